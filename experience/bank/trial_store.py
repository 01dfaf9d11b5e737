"""The trials of a run in a DuckDB file, appended as they happen; a killed run resumes from it.

Every call opens the file, makes one transaction and closes it, so that others can look at the
trials while the run goes on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from ci.model.errors import InputError
from ci.model.trial import Trial
from ci.system.duckdb_file import open_file
from experience.bank.retrieve import Retrieved

_SCHEMA = """
CREATE TABLE IF NOT EXISTS run (key VARCHAR PRIMARY KEY, value VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS trials (
    number INTEGER PRIMARY KEY, hash VARCHAR NOT NULL, parent VARCHAR NOT NULL,
    round INTEGER NOT NULL, stage VARCHAR NOT NULL, rules VARCHAR NOT NULL,
    outcome VARCHAR NOT NULL, score_us DOUBLE, seconds DOUBLE NOT NULL,
    finished TIMESTAMPTZ NOT NULL DEFAULT current_timestamp, trial VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS retrievals (
    round INTEGER NOT NULL, step INTEGER NOT NULL, retrieved VARCHAR NOT NULL,
    PRIMARY KEY (round, step));
"""


class TrialStore:
    """Reads and appends the rows of one run's `trials.duckdb`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with open_file(self.path) as connection:
            connection.execute(_SCHEMA)

    def identify(self, identity: Mapping[str, object]) -> None:
        """Note what the run is about, or check that it is the run that the file holds.

        Raises InputError naming the first difference: trials of another operator, seed or
        setting must not be continued as if they were this run's.
        """
        with open_file(self.path) as connection:
            held = dict(connection.execute("SELECT key, value FROM run").fetchall())
            wanted = {k: json.dumps(v, sort_keys=True) for k, v in identity.items()}
            for key, value in wanted.items():
                if held and held.get(key) != value:
                    raise InputError(
                        f"Cannot resume from {self.path}: its {key} was "
                        f"{held.get(key, 'not recorded')}, now it is {value}; "
                        "give the earlier settings again or another --out."
                    )
            if not held:
                connection.executemany("INSERT INTO run VALUES (?, ?)", list(wanted.items()))

    def identity(self) -> dict[str, Any]:
        """What the run is about, as `identify` noted it; empty before."""
        with open_file(self.path) as connection:
            held = connection.execute("SELECT key, value FROM run").fetchall()
        return {key: json.loads(value) for key, value in held}

    def append(self, trial: Trial, round_number: int) -> None:
        """Keep a trial for good; raises InputError when its number is taken."""
        candidate = trial.candidate
        row = [
            trial.number,
            candidate.hash,
            candidate.parent,
            round_number,
            candidate.stage,
            ",".join(candidate.motif_ids),
            trial.outcome.value,
            trial.measurement.score_us if trial.measurement else None,
            trial.seconds,
            trial.model_dump_json(),
        ]
        with open_file(self.path) as connection:
            try:
                connection.execute(
                    "INSERT INTO trials (number, hash, parent, round, stage, rules, outcome,"
                    " score_us, seconds, trial) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    row,
                )
            except duckdb.ConstraintException as error:
                raise InputError(
                    f"Another run writes its trials to {self.path}; give this one another --out."
                ) from error

    def trials(self) -> tuple[Trial, ...]:
        """All trials by number."""
        with open_file(self.path) as connection:
            rows = connection.execute("SELECT trial FROM trials ORDER BY number").fetchall()
        return tuple(Trial.model_validate_json(row[0]) for row in rows)

    def retrieval(self, round_number: int, step: int) -> tuple[Retrieved, ...] | None:
        """What a kernel step was offered, None when it was not reached yet."""
        with open_file(self.path) as connection:
            row = connection.execute(
                "SELECT retrieved FROM retrievals WHERE round = ? AND step = ?",
                [round_number, step],
            ).fetchone()
        if row is None:
            return None
        return tuple(Retrieved.model_validate(r) for r in json.loads(row[0]))

    def keep_retrieval(self, round_number: int, step: int, found: Sequence[Retrieved]) -> None:
        """Keep what a kernel step was offered: a resumed run must not ask a changed bank."""
        text = json.dumps([r.model_dump(mode="json") for r in found])
        with open_file(self.path) as connection:
            connection.execute(
                "INSERT OR REPLACE INTO retrievals VALUES (?, ?, ?)", [round_number, step, text]
            )

    def take_retrievals(self, rows: Sequence[tuple[int, int, str]]) -> None:
        """Take over (round, step, retrieved) of another run, where nothing is kept yet."""
        if not rows:
            return
        with open_file(self.path) as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO retrievals VALUES (?, ?, ?)", [list(r) for r in rows]
            )
