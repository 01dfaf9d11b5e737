"""Keeps the A/A runs of each device and operator, so that the next run need not repeat them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from ci.judge.paired.noise_floor import LATEST_RUNS, AARun
from ci.model.errors import EnvironmentProblem, plainly
from ci.system.cache import default_root
from ci.system.sqlite_file import connect

_SCHEMA = """
CREATE TABLE IF NOT EXISTS aa_runs (
    id INTEGER PRIMARY KEY,
    device TEXT NOT NULL,     -- one physical device with its versions
    operator TEXT NOT NULL,
    case_name TEXT NOT NULL,  -- '' for the mean over the cases
    mean REAL NOT NULL,       -- of the logarithms of the pairs' ratios
    error REAL NOT NULL,      -- standard error of the mean
    at TEXT NOT NULL DEFAULT (datetime('now'))
);
CREATE INDEX IF NOT EXISTS aa_runs_of ON aa_runs (device, operator, case_name);
"""


class NoiseStore:
    """The A/A runs in an SQLite file; safe to use from several processes."""

    def __init__(self, path: Path | None = None) -> None:
        """`path` is `noise.sqlite` in the cache when it is not given."""
        self.path = path or default_root() / "noise.sqlite"

    def runs(self, device: str, operator: str, case: str) -> list[AARun]:
        """The latest A/A runs, oldest first. Raises EnvironmentProblem."""
        query = (
            "SELECT mean, error FROM aa_runs WHERE (device, operator, case_name) = (?, ?, ?)"
            " ORDER BY id DESC LIMIT ?"
        )
        with closing(self._open()) as db:
            rows = db.execute(query, (device, operator, case, LATEST_RUNS)).fetchall()
        return [AARun(mean=mean, error=error) for mean, error in reversed(rows)]

    def add(self, device: str, operator: str, runs: dict[str, AARun]) -> None:
        """Keep one A/A run, by case. Raises EnvironmentProblem."""
        rows = [(device, operator, case, run.mean, run.error) for case, run in runs.items()]
        with closing(self._open()) as db:
            db.executemany(
                "INSERT INTO aa_runs (device, operator, case_name, mean, error)"
                " VALUES (?, ?, ?, ?, ?)",
                rows,
            )

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return connect(self.path, _SCHEMA)
        except (OSError, sqlite3.Error) as problem:
            raise EnvironmentProblem(
                f"The noise floors in {self.path} cannot be opened: {plainly(problem)}."
            ) from problem
