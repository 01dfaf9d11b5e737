"""Opening an SQLite file whose rows outlive the process that wrote them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pydantic import ValidationError

from ci.model.errors import InputError, worded

BUSY_S = 20.0
"""How long a writer waits for another process's transaction."""


def connect(path: Path, schema: str = "") -> sqlite3.Connection:
    """A connection in WAL mode, each statement a transaction of its own.

    Others read while it writes. What was written is safe from a kill of the process, though the
    last rows may be lost with the machine. `schema` is run first. Raises sqlite3.Error, also for a
    file whose tables lack columns of `schema`.
    """
    made = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        made.execute("PRAGMA journal_mode=WAL")
        made.execute("PRAGMA synchronous=NORMAL")
        made.executescript(schema)
        with closing(sqlite3.connect(":memory:")) as fresh:
            fresh.executescript(schema)
            for (table,) in fresh.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
                if lost := _columns(fresh, table) - _columns(made, table):
                    raise sqlite3.DatabaseError(f"its table {table} has no {min(lost)}")
    except sqlite3.Error:
        made.close()
        raise
    return made


def _columns(db: sqlite3.Connection, table: str) -> set[str]:
    return {name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")}


@contextmanager
def rows_of(path: Path, what: str) -> Iterator[None]:
    """Raise InputError that `path` is not `what` for rows that cannot be read, or are none of ours:
    somebody else may have written the file."""
    try:
        yield
    except (sqlite3.DatabaseError, ValueError, TypeError, RecursionError) as problem:
        why = worded(problem) if isinstance(problem, ValidationError) else problem
        raise InputError(f"{path} is not {what}: {why}.") from problem
