"""A program that stays has the bounds of one that is run once."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ci.source.golden import interpreter, python_folders
from ci.system.resident import Resident, Silent
from ci.system.sandbox import Level, Limits, works

FILLS = """
import os, sys
for number in range(64):
    with open(f"{os.environ['TMPDIR']}/{number}", "wb") as file:
        file.write(b"x" * (1 << 20))
sys.stdin.read()
"""


@pytest.mark.parametrize("level", ["landlock", "limits"])
def test_a_resident_that_fills_the_disk_by_many_files_is_ended(
    tmp_path: Path, level: Level
) -> None:
    """With bubblewrap its folder is of bounded size."""
    if not works(level):
        pytest.skip(f"The sandbox {level} does not work here.")
    resident = Resident(
        [interpreter(), "-I", "-S", "-c", FILLS],
        cwd=tmp_path,
        readable=[*python_folders(), tmp_path],
        limits=Limits(seconds=60, written_bytes=8 << 20),
        level=level,
    )
    with pytest.raises(Silent, match="was killed by SIGKILL"):
        resident.hear(1, time.monotonic() + 30)
