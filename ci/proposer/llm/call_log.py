"""The calls of models: every request with prompt, answer, tokens and money, as a row.

Kept in the run's own `trials.sqlite`, masked, so that a run can be looked into, resumed and
replayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.result import RoleUse
from ci.system.sqlite_file import connect, rows_of

CallOutcome = Literal["answered", "truncated", "refused", "failed"]

_WHAT: Final = "a record of requests to models"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    number INTEGER PRIMARY KEY, trial INTEGER NOT NULL, role TEXT NOT NULL, model TEXT NOT NULL,
    endpoint TEXT NOT NULL, key TEXT NOT NULL, repair INTEGER NOT NULL, outcome TEXT NOT NULL,
    prompt TEXT NOT NULL, answer TEXT NOT NULL, error TEXT NOT NULL,
    verdict TEXT NOT NULL DEFAULT '', tokens_in INTEGER NOT NULL, tokens_cached INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL, tokens_unsaid INTEGER NOT NULL, cost REAL,
    seconds REAL NOT NULL, asked TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);
"""


class Call(Frozen):
    """One request to a model."""

    number: int = Field(default=0, description="Given when it is kept.")
    trial: int = Field(description="Number of the trial that it was made for.")
    role: str
    model: str
    endpoint: str
    key: str = Field(description="sha256 over role, model and messages: equal requests share it.")
    repair: bool = Field(default=False, description="Shows the model a mistake of its own.")
    outcome: CallOutcome
    prompt: str = Field(description="The messages as JSON, masked.")
    answer: str = ""
    error: str = ""
    verdict: str = Field(default="", description="'accepted', or what was wrong with the answer.")
    tokens_in: int = Field(default=0, description="As the endpoint says.")
    tokens_cached: int = 0
    tokens_out: int = 0
    tokens_unsaid: int = Field(default=0, description="Estimate where the endpoint says nothing.")
    cost: float | None = Field(default=0.0, description="None when the price is not known.")
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """What counts against the budget."""
        return self.tokens_in + self.tokens_out + self.tokens_unsaid


_COLUMNS = [f for f in Call.model_fields if f not in ("number", "verdict")]


class Calls:
    """The table `calls` of one SQLite file."""

    def __init__(self, path: Path) -> None:
        """Open or make the file; raises InputError when it is another one."""
        self._path = path
        with rows_of(path, _WHAT):
            self._db = connect(path, _SCHEMA)

    def append(self, call: Call) -> int:
        """Keep a request for good; its number."""
        done = self._db.execute(
            f"INSERT INTO calls ({', '.join(_COLUMNS)}) "
            f"VALUES ({', '.join('?' for _ in _COLUMNS)})",
            [getattr(call, c) for c in _COLUMNS],
        )
        assert done.lastrowid is not None
        return done.lastrowid

    def judge(self, number: int, verdict: str) -> None:
        """Note what became of an answer."""
        self._db.execute("UPDATE calls SET verdict = ? WHERE number = ?", [verdict, number])

    def all(self) -> list[Call]:
        """Every request, in order."""
        names = ["number", "verdict", *_COLUMNS]
        with rows_of(self._path, _WHAT):
            rows = self._db.execute(f"SELECT {', '.join(names)} FROM calls ORDER BY number")
            return [Call.model_validate(dict(zip(names, row, strict=True))) for row in rows]

    def close(self) -> None:
        """Close the file; no more can be kept."""
        self._db.close()


def read_calls(path: Path) -> list[Call]:
    """The requests that a file holds; empty when no model was asked."""
    with closing(Calls(path)) as kept:
        return kept.all()


def summarise(roles: dict[str, str], calls: Sequence[Call]) -> tuple[RoleUse, ...]:
    """One line a role: who filled it, and what that took."""
    found = []
    for role, by in roles.items():
        mine = [c for c in calls if c.role == role]
        costs = [c.cost for c in mine]
        found.append(
            RoleUse(
                role=role,
                by=by,
                calls=len(mine),
                unusable=sum(c.verdict not in ("", "accepted") for c in mine),
                repairs=sum(c.repair for c in mine),
                failures=sum(c.outcome == "failed" for c in mine),
                tokens_in=sum(c.tokens_in for c in mine),
                tokens_out=sum(c.tokens_out for c in mine),
                tokens_unsaid=sum(c.tokens_unsaid for c in mine),
                cost=None if None in costs else sum(c for c in costs if c is not None),
            )
        )
    return tuple(found)
