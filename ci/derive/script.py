"""Puts golden functions next to derived workloads: a given one, or a script of the repository."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Final

from ci.derive import script_answers as replayed
from ci.derive.project import own_calls, texts_around
from ci.model.operator import Operator
from ci.model.workload import Workload
from ci.source.golden import golden_function
from ci.source.readable_files import home, shown, within

GOLDEN: Final = "derived_golden.py"
_GIVEN: Final = "given_golden"
_SCRIPT: Final = "gen_data.py"
_COMPUTES = re.compile(r"golden\w*[^\n]*\.tofile\(|\.tofile\([^\n]*golden")
_CALLS = re.compile(r"\baclnn\w+\s*\(")
_DRAWS = re.compile(rf"\bnp\.random\.(?:{'|'.join(replayed.DRAWS)})\b")


def find_script(operator: Operator) -> Path | None:
    """The script around the operator that draws inputs and writes a golden output.

    Where programs call the operator by its name, it is the one nearest to them; none that is nearer
    to a program that calls another.
    """
    found = [
        p for p, t in texts_around(operator, _SCRIPT) if _COMPUTES.search(t) and _DRAWS.search(t)
    ]
    programs = texts_around(operator, ".cpp") if found else ()
    calls = [(path, text) for path, text in programs if _CALLS.search(text)]
    named = own_calls(operator)
    own = [path for path, text in calls if named.search(text)]
    others = [path for path, text in calls if not named.search(text)]
    if not own:
        return next(iter(found), None)
    kept = [p for p in found if _shared(p, own) >= _shared(p, others)]
    return max(kept, key=lambda p: _shared(p, own), default=None)


def _shared(path: Path, others: list[Path]) -> int:
    """How many folders a path has in common with the one of some others that is nearest to it."""
    return max((len(Path(os.path.commonpath((path, one))).parts) for one in others), default=0)


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


def copy_golden(workload: Workload, folder: Path) -> Workload:
    """The workload, going to lie in `folder`, with a golden function that may be called from there.

    One in another repository is copied with what it can read next to it, to a folder in `folder`.
    Raises InputError for a golden that `golden_function` refuses.
    """
    file, name = golden_function(workload)
    if within(file, home(folder), beside=folder):
        return workload
    for one in shown(file.parent):
        for path in [one] if isinstance(one, Path) else one.entries:
            if path.is_relative_to(file.parent):
                place = folder / _GIVEN / path.relative_to(file.parent)
                place.parent.mkdir(parents=True, exist_ok=True)
                if path.is_dir():
                    shutil.copytree(path, place, symlinks=True, dirs_exist_ok=True)
                else:
                    shutil.copyfile(path, place)
    update = {"folder": folder, "golden": f"{_GIVEN}/{file.name}:{name}"}
    return workload.model_copy(update=update)
