"""The ledger: every request to a model with prompt, answer, tokens and money, as a row.

Kept in the run's own `trials.duckdb`, masked, so that a run can be looked into, resumed and
replayed. Each call opens the file for one transaction, as the trial store does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import duckdb
from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.result import RoleUse
from ci.system.duckdb_file import open_file

CallOutcome = Literal["answered", "truncated", "refused", "failed"]

_SCHEMA = """
CREATE SEQUENCE IF NOT EXISTS call_numbers;
CREATE TABLE IF NOT EXISTS calls (
    number BIGINT PRIMARY KEY DEFAULT nextval('call_numbers'), trial INTEGER NOT NULL,
    role VARCHAR NOT NULL, model VARCHAR NOT NULL, endpoint VARCHAR NOT NULL,
    key VARCHAR NOT NULL, repair BOOLEAN NOT NULL, outcome VARCHAR NOT NULL,
    prompt VARCHAR NOT NULL, answer VARCHAR NOT NULL, error VARCHAR NOT NULL,
    verdict VARCHAR NOT NULL DEFAULT '', tokens_in BIGINT NOT NULL, tokens_cached BIGINT NOT NULL,
    tokens_out BIGINT NOT NULL, tokens_unsaid BIGINT NOT NULL, cost DOUBLE,
    seconds DOUBLE NOT NULL, asked TIMESTAMPTZ NOT NULL DEFAULT current_timestamp);
"""


class Call(Frozen):
    """One request to a model."""

    number: int = Field(default=0, description="Given by the ledger.")
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


class Ledger:
    """The table `calls` of one DuckDB file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with open_file(path) as connection:
            connection.execute(_SCHEMA)

    def append(self, call: Call) -> int:
        """Keep a request for good; its number."""
        with open_file(self.path) as connection:
            row = connection.execute(
                f"INSERT INTO calls ({', '.join(_COLUMNS)}) "
                f"VALUES ({', '.join('?' for _ in _COLUMNS)}) RETURNING number",
                [getattr(call, c) for c in _COLUMNS],
            ).fetchone()
        assert row is not None
        return int(row[0])

    def judge(self, number: int, verdict: str) -> None:
        """Note what became of an answer."""
        with open_file(self.path) as connection:
            connection.execute("UPDATE calls SET verdict = ? WHERE number = ?", [verdict, number])

    def calls(self) -> list[Call]:
        """Every request, in order."""
        return read_calls(self.path)


def read_calls(path: Path) -> list[Call]:
    """The requests that a file holds; empty when it has no ledger."""
    names = ["number", "verdict", *_COLUMNS]
    with open_file(path) as connection:
        try:
            rows = connection.execute(
                f"SELECT {', '.join(names)} FROM calls ORDER BY number"
            ).fetchall()
        except duckdb.CatalogException:
            return []
    return [Call.model_validate(dict(zip(names, row, strict=True))) for row in rows]


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
