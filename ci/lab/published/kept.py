"""Runs of published versions that a folder keeps: some take minutes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ci.lab.published.runs import Simulated
from ci.model.errors import InputError
from ci.model.frozen import Frozen

ROWS: Final = "validation.jsonl"
"""Name of the file with one run a line."""


class KeptRun(Frozen):
    """A run, and a digest of all that it depends on."""

    key: str
    run: Simulated


class KeptRuns:
    """The runs in a folder; without one nothing is kept. Raises InputError for what is no row."""

    def __init__(self, folder: Path | None) -> None:
        self._file = folder / ROWS if folder else None
        self._runs: dict[str, Simulated] = {}
        if self._file is not None and self._file.is_file():
            for number, line in enumerate(self._file.read_text().splitlines(), 1):
                try:
                    row = KeptRun.model_validate_json(line)
                except ValidationError as problem:
                    raise InputError(f"{self._file}, line {number}, is no run: {problem}") from None
                self._runs[row.key] = row.run

    def find(self, key: str) -> Simulated | None:
        """The run of this key."""
        return self._runs.get(key)

    def add(self, key: str, run: Simulated) -> None:
        """Keep a run."""
        self._runs[key] = run
        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a") as file:
                file.write(KeptRun(key=key, run=run).model_dump_json() + "\n")
