"""A bank that cannot be read is set aside and a new one begun; no run fails for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from experience.bank.bank import Bank
from experience.bank.exchange import open_default_bank
from tests.experience.make import make_tuple

NAME = "bank.duckdb"


def full(path: Path) -> None:
    Bank(path).add_all([make_tuple(n) for n in range(300)])
    with duckdb.connect(str(path)) as db:
        db.execute("CHECKPOINT")


def truncated(path: Path) -> None:
    full(path)
    os.truncate(path, path.stat().st_size // 2)


def cut_in_its_head(path: Path) -> None:
    full(path)
    os.truncate(path, 5000)
    os.utime(path, (0, 0))


def garbage(path: Path) -> None:
    path.write_bytes(os.urandom(100_000))


def overwritten(path: Path) -> None:
    """Whole but for blocks in its middle."""
    full(path)
    size = path.stat().st_size
    with path.open("r+b") as file:
        for at in range(3 * 4096, size, 1 << 16):
            file.seek(at + 100)
            file.write(b"\xff" * 4096)


def of_another_version(path: Path) -> None:
    """A file of a DuckDB that does not exist yet."""
    full(path)
    with path.open("r+b") as file:
        file.seek(12)  # after the sum and the magic bytes stands the version
        file.write((9999).to_bytes(8, "little"))


def of_another_layout(path: Path) -> None:
    with duckdb.connect(str(path)) as db:
        db.execute("CREATE TABLE tuples (id VARCHAR, words VARCHAR)")
        db.execute("CREATE TABLE facts (other INTEGER)")


def with_odd_rows(path: Path) -> None:
    Bank(path).add(make_tuple(1))
    with duckdb.connect(str(path)) as db:
        db.execute("UPDATE tuples SET evidence = '{}'")


def a_folder(path: Path) -> None:
    (path / "more").mkdir(parents=True)


def an_empty_file(path: Path) -> None:
    path.touch()
    os.utime(path, (0, 0))


def text(path: Path) -> None:
    path.write_text("no bank\n" * 10_000)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "spoil",
    [truncated, cut_in_its_head, garbage, overwritten, of_another_version, of_another_layout,
     with_odd_rows, a_folder, text],
)  # fmt: skip
def test_a_bank_that_cannot_be_read_is_kept_and_a_new_one_begun(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, spoil: Callable[[Path], None]
) -> None:
    path = tmp_path / NAME
    spoil(path)
    before = None if path.is_dir() else path.read_bytes()
    bank = open_default_bank(path)
    assert bank.all() and bank.add(make_tuple(9001))
    kept = [p for p in tmp_path.iterdir() if ".unreadable-" in p.name and p.suffix != ".wal"]
    assert len(kept) == 1
    assert before is None or kept[0].read_bytes() == before
    assert "cannot be read" in caplog.text and str(tmp_path) not in caplog.text
    again = open_default_bank(path)
    assert again.get(make_tuple(9001).id) and len(caplog.records) == 1


def test_an_empty_file_becomes_a_bank(tmp_path: Path) -> None:
    an_empty_file(tmp_path / NAME)
    assert open_default_bank(tmp_path / NAME).add(make_tuple(1))


def test_a_bank_that_can_be_read_is_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Bank(tmp_path / NAME).add(make_tuple(1))
    assert [t.id for t in open_default_bank(tmp_path / NAME).all()] == [make_tuple(1).id]
    assert not caplog.records and [p.name for p in tmp_path.iterdir()] == [NAME]


def test_where_nothing_can_be_kept_a_run_has_a_bank_of_its_own(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    bank = open_default_bank(tmp_path / "file" / NAME)
    assert bank.all() and bank.add(make_tuple(9001))
    assert "what it adds is not kept" in caplog.text and str(tmp_path) not in caplog.text


def test_a_writer_that_is_killed_leaves_a_bank_that_opens(tmp_path: Path) -> None:
    path = tmp_path / NAME
    Bank(path).add(make_tuple(1))
    code = (
        "import os, signal, duckdb\n"
        f"db = duckdb.connect({str(path)!r})\n"
        "db.begin()\n"
        "db.execute('INSERT INTO facts SELECT i::VARCHAR, repeat(chr(65), 1000)"
        " FROM range(20000) AS t(i)')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    assert make_tuple(1).id in {t.id for t in open_default_bank(path).all()}
