"""Scripts of an operator's repository that compute right answers, as golden functions."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Final

from ci.derive import replayed
from ci.model.operator import Operator

GOLDEN: Final = "derived_golden.py"
_SCRIPT: Final = "gen_data.py"
_COMPUTES = re.compile(r"golden\w*[^\n]*\.tofile\(|\.tofile\([^\n]*golden")
_DRAWS = re.compile(rf"\bnp\.random\.(?:{'|'.join(replayed.DRAWS)})\b")
_MOST_BYTES = 200_000


def find_script(operator: Operator) -> Path | None:
    """The script among examples and tests that draws inputs and writes a golden output."""
    root = operator.root.resolve()
    for folder in ("examples", "tests"):
        for path in sorted((root / folder).rglob(_SCRIPT)):
            if not path.resolve().is_relative_to(root) or path.stat().st_size > _MOST_BYTES:
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            if _COMPUTES.search(text) and _DRAWS.search(text):
                return path
    return None


def write_golden(script: Path, folder: Path) -> str:
    """A golden function in `folder` that runs the script; what a workload there calls it.

    A golden function reads what lies below its folder only: a script elsewhere is copied.
    """
    if not script.resolve().is_relative_to(folder.resolve()):
        shutil.copyfile(script, folder / _SCRIPT)
        script = folder / _SCRIPT
    place = os.path.relpath(script, folder)
    text = Path(replayed.__file__).read_text(encoding="utf-8")
    text = text.replace(f'SCRIPT = "{replayed.SCRIPT}"', f'SCRIPT = "{place}"', 1)
    (folder / GOLDEN).write_text(text, encoding="utf-8")
    return f"{GOLDEN}:golden"
