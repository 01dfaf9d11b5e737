"""The file that the queue is in: connections, transactions, and what is remembered by name."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ci.model.errors import InputError, plainly

# How long a writer waits for another process's transaction.
_BUSY_S: Final = 30.0
_SCHEMA: Final = Path(__file__).with_name("queue.sql")


class QueueFile:
    """One SQLite file (WAL); one object serves all threads of a process."""

    def __init__(self, file: Path, *, lasting: bool = True) -> None:
        """Open or make the queue; raises InputError when `file` is no queue.

        `lasting`: what is acknowledged survives a crash of the machine, at the price of a wait for
        the disk with every change.
        """
        self.file = file
        self._synchronous = "FULL" if lasting else "OFF"
        self.runs = file.parent / "runs"
        self._local = threading.local()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with self._connect() as db:
                _bring_up_to_date(db)
        except (sqlite3.DatabaseError, OSError) as problem:
            raise InputError(
                f"{file} cannot be used as the bot's queue: {plainly(problem)}."
            ) from problem

    def _connect(self) -> sqlite3.Connection:
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if db is None:
            db = sqlite3.connect(self.file, timeout=_BUSY_S, isolation_level=None)
            db.execute("PRAGMA journal_mode=WAL")
            # The write-ahead log reaches the disk before a delivery is acknowledged.
            db.execute(f"PRAGMA synchronous={self._synchronous}")
            self._local.db = db
        return db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        db = self._connect()
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:  # a full disk may have ended it already
                db.execute("ROLLBACK")
            raise

    def _write(self, sql: str, *values: object) -> bool:
        """One statement; whether it changed a row."""
        with self._writing() as db:
            return db.execute(sql, values).rowcount == 1

    def write_something(self) -> None:
        """Raises sqlite3.Error when the queue takes nothing, as on a full disk."""
        self.set_fact("written", str(time.time()))

    def counts(self) -> dict[str, dict[str, int]]:
        """How many events and jobs are in which state."""
        db = self._connect()
        return {
            table: dict(db.execute(f"SELECT state, count(*) FROM {table} GROUP BY state"))
            for table in ("events", "jobs")
        }

    def fact(self, name: str) -> str:
        """Something remembered between runs: an ETag, an allowed head, a seen commit."""
        row = self._connect().execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return "" if row is None else str(row[0])

    def set_fact(self, name: str, value: str) -> None:
        """Remember something."""
        self._write("INSERT OR REPLACE INTO facts VALUES (?,?)", name, value)

    def close(self) -> None:
        """Close this thread's connection."""
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if db is not None:
            db.close()
            self._local.db = None

    def facts(self) -> dict[str, str]:
        """Everything remembered by name, what was set longest ago first."""
        rows = self._connect().execute("SELECT name, value FROM facts ORDER BY rowid")
        return {str(name): str(value) for name, value in rows}


def _bring_up_to_date(db: sqlite3.Connection) -> None:
    """Make what is not there: all tables of a new file, later columns of one from before them."""
    schema = _SCHEMA.read_text(encoding="utf-8")
    with sqlite3.connect(":memory:") as fresh:
        fresh.executescript(schema)
        tables = [
            str(t) for (t,) in fresh.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        wanted = {table: _columns(fresh, table) for table in tables}
    db.execute("BEGIN IMMEDIATE")  # another process may be doing the same
    for table, columns in wanted.items():
        there = _columns(db, table)
        for name in columns.keys() - there.keys() if there else ():
            db.execute(f"ALTER TABLE {table} ADD COLUMN {name} {columns[name]}")
    db.execute("COMMIT")
    db.executescript(schema)


def _columns(db: sqlite3.Connection, table: str) -> dict[str, str]:
    """The definition of each column of a table by its name."""
    rows = db.execute(f"PRAGMA table_info({table})")
    return {
        name: kind + " NOT NULL" * needed + (f" DEFAULT {default}" if default is not None else "")
        for _, name, kind, needed, default, _ in rows
    }
