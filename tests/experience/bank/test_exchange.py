from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from ci.model.errors import InputError
from experience.bank.bank import Bank
from experience.bank.exchange import (
    SHIPPED,
    export_lines,
    export_tuples,
    import_lines,
    import_tuples,
    open_default_bank,
    strip,
)
from tests.experience.make import make_tuple


def test_an_exported_bank_imports_into_an_equal_bank(tmp_path: Path) -> None:
    one, two = Bank(tmp_path / "one.duckdb"), Bank(tmp_path / "two.duckdb")
    odd = make_tuple(3, description="what ends a line elsewhere: \x85 \u2028 \u2029")
    one.add_all([*(make_tuple(n) for n in (0, 1, 2, 4)), odd])
    one.credit([make_tuple(1).id], won=True)
    assert export_lines(one.all(), tmp_path / "tuples.jsonl") == 5
    assert import_lines(two, tmp_path / "tuples.jsonl") == (5, 0)
    assert import_lines(two, tmp_path / "tuples.jsonl") == (0, 5)
    assert {t.id: t.diff for t in two.all()} == {t.id: t.diff for t in one.all()}
    assert two.stats().uses == 0


def test_lines_that_call_a_motif_a_rule_are_read(tmp_path: Path) -> None:
    bank, lines = Bank(tmp_path / "bank.duckdb"), tmp_path / "tuples.jsonl"
    one = make_tuple(1, motif_id="cache_hint")
    lines.write_text(one.model_dump_json().replace('"motif_id"', '"rule_id"'))
    assert import_lines(bank, lines) == (1, 0)
    assert bank.all() == [one]


def test_a_broken_line_is_named_and_nothing_is_stored(tmp_path: Path) -> None:
    bank = Bank(tmp_path / "bank.duckdb")
    lines = tmp_path / "tuples.jsonl"
    lines.write_text(make_tuple(1).model_dump_json() + '\n{"title": 3}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"tuples.jsonl, line 2 is no experience tuple"):
        import_lines(bank, lines)
    assert not bank.path.exists()


def test_the_shipped_tuples_are_verified_experience_of_several_motifs(tmp_path: Path) -> None:
    bank = open_default_bank(tmp_path / "made" / "bank.duckdb")
    shipped = bank.all()
    assert len(shipped) == len(SHIPPED.read_text(encoding="utf-8").splitlines())
    helpful = [t for t in shipped if t.status == "verified" and t.direction != "negative"]
    assert len(helpful) >= 150
    assert len({t.motif_id for t in helpful}) >= 10
    for t in helpful:
        assert t.fingerprint.simulated and t.origin and t.slow is not None and t.fast is not None
        assert t.evidence.speedup > 1 + t.evidence.noise_floor
    assert all(t.retired_because for t in shipped if t.status == "retired")


@pytest.mark.long
def test_a_bank_whose_making_was_killed_is_made_anew_and_whole(tmp_path: Path) -> None:
    file = tmp_path / "bank.duckdb"
    code = "import sys, pathlib; from experience.bank.exchange import open_default_bank as o; "
    command = [sys.executable, "-c", code + "o(pathlib.Path(sys.argv[1]))", str(file)]
    making = subprocess.Popen(command)
    while not list(tmp_path.glob(".bank.duckdb-*/*")) and making.poll() is None:
        time.sleep(0.001)
    making.kill()
    making.wait()
    assert not file.exists()
    assert len(open_default_bank(file).all()) == len(SHIPPED.read_text().splitlines())


def test_a_bank_that_exists_is_left_as_it_is(tmp_path: Path) -> None:
    Bank(tmp_path / "bank.duckdb").add(make_tuple(1))
    assert len(open_default_bank(tmp_path / "bank.duckdb").all()) == 1


def test_parquet_reads_back_to_equal_tuples(tmp_path: Path) -> None:
    one, two = Bank(tmp_path / "one.duckdb"), Bank(tmp_path / "two.duckdb")
    one.add_all([make_tuple(n) for n in range(3)])
    one.retire(make_tuple(2).id, "old")
    assert export_tuples(one.all(), tmp_path / "tuples.parquet") == 3
    assert import_tuples(two, tmp_path / "tuples.parquet") == (3, 0)
    assert two.all() == one.all()


def test_a_stripped_export_names_neither_kernel_nor_code(tmp_path: Path) -> None:
    secret = make_tuple(
        1, motif_id="double-buffering", title="At line 4 (secretQueue)", operator="secret_op",
        description="secret", origin="https://secret", source_commit="secret",
    )  # fmt: skip
    model_made = make_tuple(2, bottleneck="the secret loop", classes=("scalar_bound",))
    bank = Bank(tmp_path / "bank.duckdb")
    bank.add_all([secret, model_made])
    out = tmp_path / "tuples.jsonl"
    export_tuples([strip(t) for t in bank.all()], out)
    text = out.read_text(encoding="utf-8")
    assert "secret" not in text and "Slow1" not in text and "add_custom" not in text
    there = Bank(tmp_path / "there.duckdb")
    assert import_tuples(there, out) == (2, 0)
    kept = there.get(secret.id)
    assert (kept.title, kept.motif_id) == ("More buffers in a queue", "double-buffering")
    assert kept.evidence.speedup == secret.evidence.speedup


def test_a_file_that_is_no_parquet_gives_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "tuples.parquet").write_text("no parquet", encoding="utf-8")
    with pytest.raises(InputError, match="Cannot read tuples"):
        import_tuples(Bank(tmp_path / "bank.duckdb"), tmp_path / "tuples.parquet")


def test_a_parquet_file_with_a_star_in_its_name_is_that_file_alone(tmp_path: Path) -> None:
    export_tuples([make_tuple(1)], tmp_path / "of others.parquet")
    bank = Bank(tmp_path / "bank.duckdb")
    with pytest.raises(InputError, match="Cannot read tuples"):
        import_tuples(bank, tmp_path / "of*.parquet")
    export_tuples([make_tuple(2)], tmp_path / "of*.parquet")
    assert import_tuples(bank, tmp_path / "of*.parquet") == (1, 0)
