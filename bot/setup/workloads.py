"""Workloads for operators of a checkout that have none, as files of its setup."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from bot.setup.files import SetupFile
from ci.model import layout
from ci.model.derived import ROWS, DerivedRow, DeriveSettings
from ci.model.errors import InputError
from ci.session.derive import derive_workloads

OnRow = Callable[[DerivedRow, int, int], None]
"""Called with each operator that was tried, how many are done and how many there are."""


def derived_files(
    top: Path, without: Sequence[str], wanted: str, on_row: OnRow
) -> dict[str, tuple[SetupFile, ...]]:
    """The files of a workload by operator, for those of `without` that the pattern `wanted` fits.

    An operator for which none can be derived has no entry. Raises InputError when none fits.
    """
    chosen = [f for f in without if fnmatchcase(f, wanted) or fnmatchcase(f.split("/")[-1], wanted)]
    if not chosen:
        raise InputError(f"No operator without a workload has a folder or name like '{wanted}'.")
    found: dict[str, tuple[SetupFile, ...]] = {}
    with tempfile.TemporaryDirectory(prefix="ascendopt-workloads-") as name:
        for number, folder in enumerate(chosen, 1):
            out = Path(name) / str(number)
            (row,) = derive_workloads([top / folder], DeriveSettings(out=out))
            on_row(row, number, len(chosen))
            made = sorted(p for p in out.rglob("*") if p.is_file() and p.name != ROWS)
            if row.cases:
                found[folder] = tuple(_file(top, folder, path) for path in made)
    return found


def _file(top: Path, folder: str, made: Path) -> SetupFile:
    place, text = layout.below(folder, made.name), made.read_text(encoding="utf-8")
    there = (top / place).exists()
    return SetupFile(path=place, state="differs" if there else "new", text=text)
