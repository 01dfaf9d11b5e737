"""The trials of a run in an SQLite file, appended as they happen; a killed run resumes from it.

One connection serves the run; each row is a transaction, and others read while the run goes on.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from ci.model.errors import InputError
from ci.model.trial import Trial
from ci.system.sqlite_file import connect, rows_of

TRIALS_FILE: Final = "trials.sqlite"
"""Its name in the folder of a run."""

_WHAT: Final = "the record of a run"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS run (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS trials (
    number INTEGER PRIMARY KEY, hash TEXT NOT NULL, parent TEXT NOT NULL, stage TEXT NOT NULL,
    outcome TEXT NOT NULL, score_us REAL, seconds REAL NOT NULL,
    finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, trial TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS remembered (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class TrialStore:
    """Reads and appends the rows of one run; a context manager that closes the file."""

    def __init__(self, path: Path) -> None:
        """Open or make the file; raises InputError when it is not the record of a run."""
        self.path = path
        with rows_of(path, _WHAT):
            self._db = connect(path, _SCHEMA)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(sqlite3.DatabaseError):  # a damaged file, of which something is said already
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the file alone holds all of it
        self._db.close()

    def identify(self, identity: Mapping[str, object]) -> None:
        """Note what the run is about, or check that it is the run that the file holds.

        Raises InputError naming the first difference: trials of another operator, seed or
        setting must not be continued as if they were this run's.
        """
        with rows_of(self.path, _WHAT):
            held = dict(self._db.execute("SELECT key, value FROM run"))
        wanted = {k: json.dumps(v, sort_keys=True) for k, v in identity.items()}
        for key, value in wanted.items():
            if held and held.get(key) != value:
                raise InputError(
                    f"Cannot resume from {self.path}: its {key} was "
                    f"{held.get(key, 'not recorded')}, now it is {value}; "
                    "give the earlier settings again or another --out."
                )
        if not held:
            with self._db:
                self._db.execute("BEGIN")
                self._db.executemany("INSERT INTO run VALUES (?, ?)", wanted.items())

    def identity(self) -> dict[str, Any]:
        """What the run is about, as `identify` noted it; empty before."""
        with rows_of(self.path, _WHAT):
            return {k: json.loads(v) for k, v in self._db.execute("SELECT key, value FROM run")}

    def append(self, trial: Trial) -> None:
        """Keep a trial for good; raises InputError when its number is taken."""
        candidate = trial.candidate
        row = {
            "number": trial.number,
            "hash": candidate.hash,
            "parent": candidate.parent,
            "stage": candidate.stage,
            "outcome": trial.outcome.value,
            "score_us": trial.measurement.score_us if trial.measurement else None,
            "seconds": trial.seconds,
            "trial": trial.model_dump_json(),
        }
        names = ", ".join(row)
        values = ", ".join(f":{name}" for name in row)
        try:
            self._db.execute(f"INSERT INTO trials ({names}) VALUES ({values})", row)
        except sqlite3.IntegrityError as error:
            raise InputError(
                f"Another run writes its trials to {self.path}; give this one another --out."
            ) from error

    def append_next(self, trial: Trial) -> Trial:
        """Keep a trial under the next free number, whoever else writes; return it so numbered."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            (number,) = self._db.execute("SELECT count(*) FROM trials").fetchone()
            numbered = trial.model_copy(update={"number": number})
            self.append(numbered)
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
        return numbered

    def trials(self) -> tuple[Trial, ...]:
        """All trials by number."""
        with rows_of(self.path, _WHAT):
            rows = self._db.execute("SELECT trial FROM trials ORDER BY number")
            return tuple(Trial.model_validate_json(row[0]) for row in rows)

    def recall(self, key: str) -> str | None:
        """What the run remembered under `key`; None when it was not there yet."""
        row = self._db.execute("SELECT value FROM remembered WHERE key = ?", [key]).fetchone()
        return None if row is None else str(row[0])

    def remember(self, key: str, value: str) -> None:
        """Keep what the run decides on, so that it decides the same when it is resumed."""
        self._db.execute("INSERT OR IGNORE INTO remembered VALUES (?, ?)", [key, value])

    def remembered(self) -> dict[str, str]:
        """Everything that the run remembered, by key."""
        with rows_of(self.path, _WHAT):
            return dict(self._db.execute("SELECT key, value FROM remembered"))


def set_aside(folder: Path) -> bool:
    """Keep the trials of an earlier run in `folder` under another name; whether there are any."""
    file = folder / TRIALS_FILE
    if not file.exists():
        return False
    with TrialStore(file):  # takes in what a killed run left in the write-ahead log
        pass
    earlier = len(list(folder.glob(f"{file.stem}.*{file.suffix}")))
    file.rename(file.with_suffix(f".{earlier}{file.suffix}"))
    return True
