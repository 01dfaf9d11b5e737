from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ci.system.startable import copy_startable

SCRIPT = "#!/bin/sh\necho started\n"


def test_a_program_can_be_started_at_once_and_is_never_open_here(tmp_path: Path) -> None:
    source, place = tmp_path / "source", tmp_path / "program"
    source.write_text(SCRIPT)
    source.chmod(0o755)
    opened: list[str] = []
    watching = True

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event == "open":
            opened.append(str(arguments[0]))

    sys.addaudithook(watch)
    copy_startable(source, place)
    watching = False
    assert str(place) not in opened
    assert subprocess.run([place], capture_output=True, text=True).stdout == "started\n"


def test_what_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nothing"):
        copy_startable(tmp_path / "nothing", tmp_path / "program")
