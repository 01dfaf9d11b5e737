"""Opening an SQLite file whose rows outlive the process that wrote them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

BUSY_S = 20.0
"""How long a writer waits for another process's transaction."""


def connect(path: Path, schema: str = "") -> sqlite3.Connection:
    """A connection in WAL mode, each statement a transaction of its own.

    Others read while it writes. What was written is safe from a kill of the process, though the
    last rows may be lost with the machine. `schema` is run first. Raises sqlite3.Error.
    """
    made = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        made.execute("PRAGMA journal_mode=WAL")
        made.execute("PRAGMA synchronous=NORMAL")
        made.executescript(schema)
    except sqlite3.Error:
        made.close()
        raise
    return made
