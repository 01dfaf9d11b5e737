"""Folders of short life lie in one of their process, and go with it, however it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ci.system.scratch import IN_MEMORY, remove_left_behind, scratch

HOLDS = (
    "from ci.system.scratch import scratch; import time; "
    "held = scratch('test'); print(held.name, flush=True); {then}"
)


def process(place: Path, then: str) -> tuple[subprocess.Popen[str], Path]:
    """Another process that holds a folder in a place."""
    started = subprocess.Popen(
        [sys.executable, "-c", HOLDS.format(then=then)],
        env={**os.environ, "TMPDIR": str(place)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout
    return started, Path(started.stdout.readline().strip())


def test_a_folder_is_gone_afterwards() -> None:
    with scratch("test") as name:
        assert Path(name).is_dir()
    assert not Path(name).exists()


def test_what_would_fill_the_memory_goes_to_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    with scratch("test", 1 << 60) as name:
        assert not Path(name).is_relative_to(IN_MEMORY)


def test_the_folder_that_the_user_asks_for_is_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with scratch("test") as name:
        assert tmp_path in Path(name).parents


@pytest.mark.parametrize("then", ["pass", "import os; os.fork() or os._exit(0)"])
def test_a_process_that_ends_leaves_nothing(tmp_path: Path, then: str) -> None:
    started, folder = process(tmp_path, then)
    assert tmp_path in folder.parents
    assert started.wait(30) == 0
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_and_a_living_one_keeps_its_own(
    tmp_path: Path,
) -> None:
    living, kept = process(tmp_path, "time.sleep(60)")
    killed, left = process(tmp_path, "time.sleep(60)")
    try:
        killed.send_signal(signal.SIGKILL)
        killed.wait(30)
        assert left.is_dir()
        remove_left_behind(tmp_path)
        assert kept.is_dir()
        assert not left.parent.exists()
    finally:
        living.kill()
        living.wait(30)


def test_other_peoples_folders_stay(tmp_path: Path) -> None:
    for name in ("ascendopt-run-made", "another-tool"):
        (tmp_path / name).mkdir()
    (tmp_path / "ascendopt-run-link").symlink_to(tmp_path / "another-tool")
    remove_left_behind(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


def test_one_folder_of_the_process_holds_all_and_is_made_anew_when_it_is_gone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with scratch("test") as first, scratch("test") as second:
        assert Path(first).parent == Path(second).parent
    shutil.rmtree(Path(first).parent)
    with scratch("test") as third:
        assert Path(third).is_dir()
