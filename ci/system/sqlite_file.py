"""Opening an SQLite file whose rows outlive the process that wrote them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ci.model.errors import InputError, worded

OURS: Final = 0x41536F70
"""What SQLite calls the application of a file, in its head."""

BUSY_S = 20.0
"""How long a writer waits for another process's transaction."""


def connect(path: Path, schema: str = "") -> sqlite3.Connection:
    """A connection in WAL mode, each statement a transaction of its own.

    Others read while it writes. What was written is safe from a kill of the process, though the
    last rows may be lost with the machine. `schema` is run first. Raises sqlite3.Error for a file
    of another program, or whose tables lack columns of `schema`: it stays as it was.
    """
    _refuse_others(path, schema)
    made = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        made.execute("PRAGMA journal_mode=WAL")
        made.execute("PRAGMA synchronous=NORMAL")
        made.execute(f"PRAGMA application_id={OURS}")
        made.executescript(schema)
    except sqlite3.Error:
        made.close()
        raise
    return made


def _refuse_others(path: Path, schema: str) -> None:
    """Raise sqlite3.DatabaseError for what is not ours, before anything is written to it."""
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        return
    if not path.is_file():
        raise sqlite3.DatabaseError("it is no ordinary file")
    address = f"{path.resolve().as_uri()}?mode=ro"
    with (
        closing(sqlite3.connect(address, uri=True, timeout=BUSY_S)) as there,
        closing(sqlite3.connect(":memory:")) as fresh,
    ):
        fresh.executescript(schema)
        held = 0
        for (table,) in fresh.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
            columns = _columns(there, table)
            if columns and (lost := _columns(fresh, table) - columns):
                raise sqlite3.DatabaseError(f"its table {table} has no {min(lost)}")
            held += bool(columns)
        ((mark,),) = there.execute("PRAGMA application_id")
        ((any_table,),) = there.execute("SELECT count(*) FROM sqlite_schema")
    # A file of ours from before there was a mark holds a table of those that are asked for.
    if mark != OURS and (mark or any_table) and not (held and not mark):
        raise sqlite3.DatabaseError("its tables are those of another program")


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
