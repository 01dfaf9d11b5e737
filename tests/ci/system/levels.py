"""The levels of the sandbox that work here, and what a program is granted in tests."""

import sys
from pathlib import Path
from typing import Any

import pytest

from ci.session.facts import files_are_closed
from ci.system.sandbox import Completed, Level, Limits, run, works

CLOSED: list[Level] = [level for level in ("bubblewrap", "landlock") if works(level)]
LEVELS: list[Level] = [*CLOSED, "limits"]
needs_hidden_files = pytest.mark.skipif(
    not files_are_closed(), reason="the sandbox leaves files open here (Landlock or bubblewrap)"
)
NAMESPACES: list[Level] = [level for level in LEVELS if level == "bubblewrap"]

# Real paths: a virtual environment's python is a link to it or a copy, and the sandbox shows /usr
# only.
PYTHON = str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())


def granted(folder: Path, level: Level, limits: dict[str, float]) -> dict[str, Any]:
    return {
        "cwd": folder,
        "readable": [Path(PYTHON).parent.parent],
        "writable": [folder],
        "limits": Limits(**{"seconds": 20, **limits}),  # type: ignore[arg-type]
        "level": level,
    }


def attempt(code: str, folder: Path, level: Level, **limits: float) -> Completed:
    return run([PYTHON, "-I", "-S", "-c", code], **granted(folder, level, limits))
