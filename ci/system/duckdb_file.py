"""Opening a DuckDB file that other processes look at: tried again while one of them holds it."""

from __future__ import annotations

from pathlib import Path

import duckdb
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_random_exponential

LOCK_PATIENCE_S = 20.0


@retry(
    retry=retry_if_exception_type(duckdb.IOException),
    stop=stop_after_delay(LOCK_PATIENCE_S),
    wait=wait_random_exponential(multiplier=0.01, max=0.5),
    reraise=True,
)
def open_file(path: Path) -> duckdb.DuckDBPyConnection:
    """A connection for one short transaction."""
    return duckdb.connect(str(path))
