"""A running search: one for a folder, and none that outlives its program."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

import ascendopt
from ascendopt.api.search import Optimization
from ci.model.notice import Notice
from ci.model.result import Result


def test_two_searches_do_not_write_into_one_folder(tmp_path: Path) -> None:
    release = threading.Event()

    def waits(say: object) -> Result:
        release.wait(20)
        raise ascendopt.InputError("nothing was searched")

    first = Optimization(waits, tmp_path, 3)
    with pytest.raises(ascendopt.InputError, match="runs in .* already"):
        Optimization(waits, tmp_path / ".." / tmp_path.name, 3)
    release.set()
    with pytest.raises(ascendopt.InputError, match="nothing was searched"):
        first.result  # noqa: B018
    with Optimization(waits, tmp_path, 3) as second:
        assert second.folder == tmp_path


def test_a_program_that_ends_cancels_its_searches_and_waits_for_them(tmp_path: Path) -> None:
    program = f"""
import pathlib, time
from ascendopt.api.search import Optimization
from ci.model.notice import Notice

def search(say):
    try:
        while True:
            time.sleep(0.01)
            say(Notice(kind="note"))
    finally:
        print("ended cleanly", flush=True)

Optimization(search, pathlib.Path({str(tmp_path)!r}), 3)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "ended cleanly\n"
    assert not done.stderr


def test_a_cancelled_search_says_so_at_its_next_notice(tmp_path: Path) -> None:
    begun = threading.Event()

    def search(say: object) -> Result:
        begun.set()
        while True:
            say(Notice(kind="waiting"))  # type: ignore[operator]

    with Optimization(search, tmp_path, 3) as running:
        begun.wait(20)
    assert running.done
    with pytest.raises(ascendopt.Cancelled):
        running.result  # noqa: B018
