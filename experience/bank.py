"""The bank: one DuckDB file of experience tuples, opened for one short transaction at a time.

DuckDB lets no second process open a file that a writer holds, not even to read, so a connection
lives for one call only and a locked file is tried again with backoff.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import duckdb
from tenacity import (
    Retrying,
    retry_if_exception,
    stop_after_delay,
    wait_random_exponential,
)

from ci.errors import InputError
from ci.trial import Frozen
from experience.embed import DIMENSIONS, MODEL, embed
from experience.retrieve import Query, Retrieved, rank
from experience.tuple import ExperienceTuple

LOCK_PATIENCE_SECONDS = 60.0  # longer than any transaction of ours, shorter than a CI step
POOL_PER_RESULT = 20  # rows fetched by similarity for each one wanted, before ranking
_SCHEMA = Path(__file__).with_name("schema.sql")
_COLUMNS = [f for f in ExperienceTuple.model_fields if f not in ("uses", "wins")]
_INSERT = (
    f"INSERT INTO tuples ({', '.join([*_COLUMNS, 'embedding', 'embedding_model'])}) "
    f"VALUES ({', '.join('?' for _ in range(len(_COLUMNS) + 2))}) "
    "ON CONFLICT DO NOTHING RETURNING id"
)
_T = TypeVar("_T")


class BankStats(Frozen):
    """Counts over a bank, each from the most to the least frequent."""

    tuples: int
    by_status: dict[str, int]
    by_direction: dict[str, int]
    by_rule: dict[str, int]
    by_class: dict[str, int]
    by_family: dict[str, int]
    uses: int
    wins: int


class Bank:
    """A file of experience tuples; safe to use from several processes at once."""

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        """Nothing is opened yet; raises `InputError` when `path` cannot be a bank."""
        if must_exist and not path.exists():
            raise InputError(
                f"There is no bank at {path}; fill one with 'ascendopt bank rewind OPERATOR'."
            )
        if path.is_dir():
            raise InputError(f"The bank {path} is a folder; give the path of a DuckDB file.")
        if not path.parent.is_dir():
            raise InputError(f"The bank's folder {path.parent} does not exist; create it first.")
        self.path = path

    def add(self, new: ExperienceTuple) -> bool:
        """Store a tuple; False when an equal one (diff, family, SoC) is there already."""
        return self.add_all([new]) == 1

    def add_all(self, tuples: Sequence[ExperienceTuple]) -> int:
        """Store tuples in one transaction; how many of them were new."""

        def insert(db: duckdb.DuckDBPyConnection) -> int:
            return sum(bool(db.execute(_INSERT, _row(t)).fetchall()) for t in tuples)

        return self._with(insert)

    def get(self, tuple_id: str) -> ExperienceTuple:
        """The tuple with this id (or the only one whose id starts so); raises `InputError`."""
        found = self._read("WHERE starts_with(t.id, ?) ORDER BY t.id LIMIT 2", [tuple_id])
        if not found or not tuple_id:
            raise InputError(f"The bank {self.path} holds no tuple {tuple_id!r}.")
        if len(found) > 1 and found[0].id != tuple_id:
            raise InputError(f"Several tuples start with {tuple_id!r}; give more of the id.")
        return found[0]

    def all(self) -> list[ExperienceTuple]:
        """Every tuple, the oldest first."""
        return self._read("ORDER BY t.created, t.id", [])

    def search(self, query: Query, k: int = 5) -> list[Retrieved]:
        """The k tuples that best answer the query; retired and negative ones never."""
        vector = embed(query.bottleneck, query.classes)
        clause = (
            f"WHERE t.status <> 'retired' AND t.direction <> 'negative' AND t.embedding_model = ? "
            f"ORDER BY array_cosine_similarity(t.embedding, ?::FLOAT[{DIMENSIONS}]) DESC, t.id "
            "LIMIT ?"
        )
        found = self._read(clause, [MODEL, vector.tolist(), k * POOL_PER_RESULT])
        return rank(
            query,
            [(t, float(embed(t.bottleneck, t.classes) @ vector)) for t in found],
            k,
        )

    def credit(self, ids: Iterable[str], *, won: bool) -> None:
        """Note that these tuples were offered to a candidate, and whether it became the best."""
        rows = [(i, won, _naive(datetime.now(UTC))) for i in ids]
        if rows:
            statement = "INSERT INTO credits (tuple_id, won, credited) VALUES (?, ?, ?)"
            self._with(lambda db: db.executemany(statement, rows))

    def retire(self, tuple_id: str) -> None:
        """Keep a tuple but never retrieve it again."""
        full = self.get(tuple_id).id
        self._with(
            lambda db: db.execute("UPDATE tuples SET status = 'retired' WHERE id = ?", [full])
        )

    def stats(self) -> BankStats:
        """How many tuples the bank holds, by what kind."""
        tuples = self.all()
        return BankStats(
            tuples=len(tuples),
            by_status=_counts(t.status for t in tuples),
            by_direction=_counts(t.direction for t in tuples),
            by_rule=_counts(t.rule_id or "no rule" for t in tuples),
            by_class=_counts(c for t in tuples for c in t.classes),
            by_family=_counts(t.op_family for t in tuples),
            uses=sum(t.uses for t in tuples),
            wins=sum(t.wins for t in tuples),
        )

    def _read(self, clause: str, parameters: list[object]) -> list[ExperienceTuple]:
        names = ", ".join(f"t.{c}" for c in _COLUMNS)
        statement = (
            f"SELECT {names}, coalesce(c.uses, 0), coalesce(c.wins, 0) FROM tuples t LEFT JOIN "
            "(SELECT tuple_id, count(*) AS uses, count(*) FILTER (won) AS wins "
            f"FROM credits GROUP BY tuple_id) c ON c.tuple_id = t.id {clause}"
        )
        rows = self._with(lambda db: db.execute(statement, parameters).fetchall())
        return [_tuple(row) for row in rows]

    def _with(self, work: Callable[[duckdb.DuckDBPyConnection], _T]) -> _T:
        for attempt in Retrying(
            retry=retry_if_exception(_is_locked),
            stop=stop_after_delay(LOCK_PATIENCE_SECONDS),
            wait=wait_random_exponential(multiplier=0.02, max=1.0),
            reraise=True,
        ):
            with attempt:
                return self._once(work)
        raise AssertionError("unreachable: Retrying either returns or raises")

    def _once(self, work: Callable[[duckdb.DuckDBPyConnection], _T]) -> _T:
        try:
            connection = duckdb.connect(str(self.path))
        except duckdb.IOException as problem:
            if _is_locked(problem):
                raise
            raise InputError(
                f"{self.path} is not an experience bank that can be opened: {_first(problem)}"
            ) from problem
        with connection:
            connection.execute(_SCHEMA.read_text(encoding="utf-8"))
            connection.begin()
            result = work(connection)
            connection.commit()
            return result


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(Counter(values).most_common())


def _is_locked(problem: BaseException) -> bool:
    if isinstance(problem, duckdb.TransactionException):
        return True
    return isinstance(problem, duckdb.IOException) and "lock" in str(problem).lower()


def _first(problem: BaseException) -> str:
    return str(problem).splitlines()[0]


def _naive(moment: datetime) -> datetime:
    # DuckDB's zoned type needs one more library in Python; UTC without a zone says the same.
    return moment.astimezone(UTC).replace(tzinfo=None)


def _row(new: ExperienceTuple) -> list[object]:
    row: list[object] = []
    for name in _COLUMNS:
        value = getattr(new, name)
        if isinstance(value, Frozen):
            value = value.model_dump_json()
        elif isinstance(value, datetime):
            value = _naive(value)
        row.append(list(value) if isinstance(value, tuple) else value)
    return [*row, embed(new.bottleneck, new.classes).tolist(), MODEL]


def _tuple(row: tuple[Any, ...]) -> ExperienceTuple:
    values = dict(zip(_COLUMNS, row, strict=False))
    values["evidence"] = json.loads(values["evidence"])
    values["fingerprint"] = json.loads(values["fingerprint"])
    values["classes"] = tuple(values["classes"])
    values["created"] = values["created"].replace(tzinfo=UTC)
    return ExperienceTuple(**values, uses=row[-2], wins=row[-1])
