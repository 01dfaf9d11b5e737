"""The bank's file: opening it for one transaction, its rows, and banks of the first layout."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

import duckdb
import numpy as np
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

from ci.model.errors import EnvironmentProblem, InputError
from ci.model.frozen import Frozen
from experience.bank.embed import Vector
from experience.bank.index import Rows
from experience.bank.tuple import ExperienceTuple

LOCK_PATIENCE_SECONDS = 60.0  # longer than any transaction of ours, shorter than a CI step
HEADER_BYTES = 3 * 4096  # a DuckDB file begins with three headers
MAKING_SECONDS = 1.0  # a file that is younger and has no headers yet may still get them
_SCHEMA = Path(__file__).with_name("schema.sql")
_CHANGING = ("status", "retired_because", "checked", "uses", "wins")
_COLUMNS = [f for f in ExperienceTuple.model_fields if f not in _CHANGING]
_JSON = ("evidence", "fingerprint", "slow", "fast")
_AT_ONCE = 100  # rows a statement: each statement costs what some ten rows do
_STANDING = (
    "(SELECT tuple_id, arg_max(status, noted) AS status, arg_max(reason, noted) AS reason, "
    "max(checked) AS checked FROM standings GROUP BY tuple_id)"
)
_CREDITS = (
    "SELECT tuple_id, count(*) AS uses, count(*) FILTER (won) AS wins "
    "FROM credits GROUP BY tuple_id"
)
_LOCKED = "Could not set lock on file"  # what DuckDB says where another process holds the file
# A bank may be anybody's: nothing in it leads to other files, and nothing is fetched to read it.
_ALONE: dict[str, Any] = {"enable_external_access": "false"}
_T = TypeVar("_T")
Connection = duckdb.DuckDBPyConnection


class _Foreign(ValueError):
    """A database of somebody's, which is no bank."""


class File:
    """Opens the file for one transaction at a time, waiting for others to let go of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ready = False

    def write(self, work: Callable[[Connection], _T]) -> _T:
        """The result of `work` in a transaction that is committed when it returns.

        Raises InputError where the file is no bank, and EnvironmentProblem where another process
        holds it for longer than `LOCK_PATIENCE_SECONDS`.
        """
        return self._patiently(lambda: self._write_once(work))

    def read(self, work: Callable[[Connection], _T]) -> _T:
        """The result of `work` on a connection next to which others may read too; raises as
        `write`."""
        if not self._ready:  # makes the tables of a new bank and those that a version added
            self.write(lambda db: None)
        return self._patiently(lambda: self._read_once(work))

    def fault(self) -> str:
        """What keeps the file from being read as a bank, to its last row; '' for nothing.

        It says no path. Raises EnvironmentProblem while another process holds the file, and
        InputError for somebody's other database.
        """
        try:
            self.read(_read_all)
        except InputError as problem:
            if isinstance(problem.__cause__, _Foreign):
                raise
            known = isinstance(problem.__cause__, duckdb.Error)
            return type(problem.__cause__).__name__ if known else "no tuples of a bank"
        except OSError as problem:
            return problem.strerror or type(problem).__name__
        return ""

    def _patiently(self, call: Callable[[], _T]) -> _T:
        patient = Retrying(
            retry=retry_if_exception(_is_locked),
            stop=stop_after_delay(LOCK_PATIENCE_SECONDS),
            wait=wait_random_exponential(multiplier=0.02, max=1.0),
            reraise=True,
        )
        try:
            return patient(call)
        except (duckdb.Error, ValueError, TypeError) as problem:  # or rows that are no tuples
            if _is_locked(problem):
                raise EnvironmentProblem(
                    f"Another process has held {self.path} for a minute; try again when it is done."
                ) from problem
            raise InputError(
                f"{self.path} is not an experience bank that can be read:"
                f" {str(problem).splitlines()[0]}"
            ) from problem

    def _connect(self, *, read_only: bool) -> Connection:
        for file in (self.path, self.path.with_name(f"{self.path.name}.wal")):
            if file.exists() and not file.is_file():  # DuckDB would wait for a pipe
                raise InputError(f"{file} is no file, so there is no experience bank.")
        try:
            return duckdb.connect(str(self.path), read_only=read_only, config=_ALONE)
        except duckdb.Error as problem:
            if not _is_locked(problem) and self._being_made():
                raise duckdb.TransactionException("locked by its maker") from problem
            raise

    def _being_made(self) -> bool:
        """Whether another process may be writing the file's first headers right now."""
        try:
            found = self.path.stat()
        except OSError:
            return False
        return found.st_size < HEADER_BYTES and time.time() - found.st_mtime < MAKING_SECONDS

    def _read_once(self, work: Callable[[Connection], _T]) -> _T:
        with self._connect(read_only=True) as connection:
            connection.begin()
            return work(connection)

    def _write_once(self, work: Callable[[Connection], _T]) -> _T:
        with self._connect(read_only=False) as connection:
            connection.begin()
            _prepare(connection)
            result = work(connection)
            connection.commit()
            self._ready = True
            return result


def _read_all(db: Connection) -> None:
    """Read each table once; DuckDB looks at its sums of the blocks meanwhile."""
    tables = db.execute("SELECT table_name FROM duckdb_tables() WHERE NOT internal").fetchall()
    for (table,) in tables:
        quoted = str(table).replace('"', '""')
        db.execute(f'SELECT bit_xor(hash(one)) FROM "{quoted}" AS one').fetchall()
    select(db, "ORDER BY t.created DESC LIMIT 1", [])
    model(db)
    stamp(db)


def _is_locked(problem: BaseException) -> bool:
    if isinstance(problem, duckdb.TransactionException):
        return True
    if isinstance(problem, duckdb.ConnectionException):  # this process has it open the other way
        return "different configuration" in str(problem)
    # Not "lock" alone: "block" stands in what DuckDB says of a damaged file.
    return isinstance(problem, duckdb.IOException) and _LOCKED in str(problem)


def _prepare(db: Connection) -> None:
    """Make the tables; a bank of the first layout is carried over with all it holds."""
    columns = {r[0] for r in db.execute("SELECT column_name FROM duckdb_columns() "
               "WHERE table_name = 'tuples' AND NOT internal").fetchall()}  # fmt: skip
    if "rule_id" in columns:  # as it was called before
        db.execute("ALTER TABLE tuples RENAME COLUMN rule_id TO motif_id")
        columns.add("motif_id")
    elif not columns and db.execute("SELECT 1 FROM duckdb_tables() LIMIT 1").fetchone():
        raise _Foreign("it is a database with tables of its own; give another file")
    first_layout = "embedding" in columns
    if first_layout:
        db.execute("ALTER TABLE tuples RENAME TO tuples_before")
    db.execute(_SCHEMA.read_text(encoding="utf-8"))
    if not db.execute("SELECT 1 FROM facts WHERE key = 'bank'").fetchone():
        db.execute("INSERT INTO facts VALUES ('bank', ?), ('changes', '0')", [token_hex(4)])
    if first_layout:
        kept = [c for c in _COLUMNS if c in columns]
        added = {"slow": "NULL", "fast": "NULL", "trajectory": "''", "step": "0",
                 "origin": "''"}  # fmt: skip
        db.execute(
            f"INSERT INTO tuples ({', '.join([*kept, *added])}) "
            f"SELECT {', '.join([*kept, *added.values()])} FROM tuples_before"
        )
        db.execute(
            "INSERT INTO embeddings SELECT id, embedding_model, embedding FROM tuples_before"
        )
        db.execute(
            "INSERT INTO standings SELECT id, status, 'carried over', NULL, 0 FROM tuples_before "
            "WHERE status <> 'verified'"
        )
        held = db.execute("SELECT embedding_model FROM tuples_before LIMIT 1").fetchone()
        if held:
            note_model(db, held[0], 320)
        db.execute("DROP TABLE tuples_before")
        touch(db)


def touch(db: Connection) -> int:
    """Count a change that makes an index of the bank stale; the new count."""
    found = db.execute(
        "UPDATE facts SET value = (value::BIGINT + 1)::VARCHAR WHERE key = 'changes' "
        "RETURNING value"
    ).fetchone()
    return int(found[0]) if found else 0


def stamp(db: Connection) -> str:
    """Names the present content of this bank as far as an index goes."""
    facts = dict(db.execute("SELECT key, value FROM facts").fetchall())
    model_hash = hashlib.sha256(facts.get("model", "").encode()).hexdigest()[:8]
    return f"{facts.get('bank', '')}-{facts.get('changes', '0')}-{model_hash}"


def model(db: Connection) -> tuple[str, int]:
    """The embedding model in force and its dimensions; ('', 0) while there is none."""
    facts = dict(db.execute("SELECT key, value FROM facts").fetchall())
    return facts.get("model", ""), int(facts.get("dimensions", "0"))


def note_model(db: Connection, name: str, dimensions: int) -> None:
    """Put an embedding model in force."""
    for key, value in (("model", name), ("dimensions", str(dimensions))):
        db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", [key, value])


def insert(db: Connection, tuples: Sequence[ExperienceTuple]) -> set[str]:
    """Store the tuples' rows; the ids of those of which there was no equal one."""
    new: set[str] = set()
    columns = f"tuples ({', '.join(_COLUMNS)})"
    for rows in _batches([_row(one) for one in tuples]):
        added = _insert(db, columns, rows, "ON CONFLICT DO NOTHING RETURNING id").fetchall()
        new.update(i for (i,) in added)
    stand(db, [(t.id, t.status, t.retired_because, t.checked) for t in tuples
               if t.id in new and (t.status != "verified" or t.checked)])  # fmt: skip
    return new


def keep_vectors(db: Connection, name: str, rows: Sequence[tuple[str, Sequence[float]]]) -> None:
    """Store vectors by tuple id."""
    for some in _batches([(i, name, list(v)) for i, v in rows]):
        _insert(db, "embeddings (tuple_id, model, vector)", some)


def _insert(
    db: Connection, table: str, rows: Sequence[Sequence[object]], then: str = ""
) -> Connection:
    places = f"({', '.join('?' for _ in rows[0])})"
    values = ", ".join(places for _ in rows)
    return db.execute(
        f"INSERT INTO {table} VALUES {values} {then}", [v for row in rows for v in row]
    )


def _batches(rows: Sequence[_T]) -> Iterator[Sequence[_T]]:
    for first in range(0, len(rows), _AT_ONCE):
        yield rows[first : first + _AT_ONCE]


def stand(db: Connection, news: Sequence[tuple[str, str, str, datetime | None]]) -> None:
    """Append standings; the last of a tuple counts."""
    noted = touch(db)
    for some in _batches(news):
        rows = [(i, s, why, naive(when) if when else None, noted) for i, s, why, when in some]
        _insert(db, "standings", rows)


def credits(db: Connection) -> dict[str, tuple[int, int]]:
    """(uses, wins) by tuple id, of those that were used."""
    return {i: (u, w) for i, u, w in db.execute(_CREDITS).fetchall()}


def select(db: Connection, clause: str, parameters: list[Any]) -> list[ExperienceTuple]:
    """The tuples that a clause on `t` selects, with their standing and credit."""
    names = ", ".join(f"t.{c}" for c in _COLUMNS)
    statement = (
        f"SELECT {names}, coalesce(s.status, 'verified'), coalesce(s.reason, ''), s.checked, "
        f"coalesce(c.uses, 0), coalesce(c.wins, 0) FROM tuples t "
        f"LEFT JOIN {_STANDING} s ON s.tuple_id = t.id "
        f"LEFT JOIN ({_CREDITS}) c ON c.tuple_id = t.id {clause}"
    )
    return [_tuple(row) for row in db.execute(statement, parameters).fetchall()]


def of_ids(db: Connection, ids: Sequence[str]) -> list[ExperienceTuple]:
    """The tuples with these ids, found by index and not by going through the bank."""
    if not ids:
        return []
    return select(db, f"WHERE t.id IN ({', '.join('?' for _ in ids)})", list(ids))


def vectors(db: Connection) -> dict[str, list[float]]:
    """Every vector of the model in force by tuple id."""
    rows = db.execute("SELECT tuple_id, vector FROM embeddings WHERE model = ?", [model(db)[0]])
    return dict(rows.fetchall())


def columns(db: Connection, dimensions: int) -> Rows:
    """Return an index's columns for every tuple that has a vector of the model in force."""
    found = db.execute(
        "SELECT t.id, t.motif_id, t.diff_hash, t.classes, "
        "coalesce((t.evidence->>'slow_us')::DOUBLE / (t.evidence->>'fast_us')::DOUBLE, 1.0), "
        "t.title, t.op_family, t.dtype, t.soc, t.direction, coalesce(s.status, 'verified'), "
        f"e.vector::FLOAT[{dimensions}] FROM tuples t "
        "JOIN embeddings e ON e.tuple_id = t.id AND e.model = ? "
        f"LEFT JOIN {_STANDING} s ON s.tuple_id = t.id ORDER BY t.id",
        [model(db)[0]],
    ).fetchall()
    parts = list(zip(*found, strict=True)) if found else [()] * 12
    names = ("title", "op_family", "dtype", "soc", "direction", "status")
    coded = dict(zip(names, parts[5:11], strict=True))
    matrix: Vector = np.array(parts[11], dtype=np.float32).reshape(len(found), dimensions)
    return Rows(parts[0], parts[1], parts[2], parts[3], parts[4], coded, matrix)


def naive(moment: datetime) -> datetime:
    """DuckDB's zoned type needs one more library in Python; UTC without a zone says the same."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def _row(new: ExperienceTuple) -> list[object]:
    row: list[object] = []
    for name in _COLUMNS:
        value = getattr(new, name)
        if isinstance(value, Frozen):
            value = value.model_dump_json()
        elif isinstance(value, datetime):
            value = naive(value)
        row.append(list(value) if isinstance(value, tuple) else value)
    return row


def _tuple(row: tuple[Any, ...]) -> ExperienceTuple:
    values = dict(zip((*_COLUMNS, *_CHANGING), row, strict=True))
    for name in _JSON:
        values[name] = json.loads(values[name]) if values[name] else None
    values["classes"] = tuple(values["classes"])
    for name in ("created", "checked"):
        values[name] = values[name].replace(tzinfo=UTC) if values[name] else None
    return ExperienceTuple(**values)
