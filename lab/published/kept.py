"""Runs of published versions that a folder keeps: some take minutes."""

from __future__ import annotations

from pathlib import Path
from typing import Final, TypeAlias

from ci.model.frozen import Frozen
from ci.system.row_file import RowFile
from lab.published.figures import Simulated

ROWS: Final = "validation.jsonl"
"""Name of the file with one run a line."""


class KeptRun(Frozen):
    """A run, and a digest of all that it depends on."""

    key: str
    run: Simulated


KeptRuns: TypeAlias = RowFile[str, KeptRun]


def kept_runs(folder: Path | None) -> KeptRuns:
    """The runs in a folder by their key; without one nothing is kept."""
    return RowFile(folder and folder / ROWS, KeptRun, lambda row: row.key)
