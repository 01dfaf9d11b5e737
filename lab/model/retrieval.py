"""What `bench retrieval` is asked, and how long a search of a large bank took."""

from __future__ import annotations

from pydantic import Field

from ci.model.frozen import Frozen

LIMIT_MS = 100.0
"""What retrieval over 100,000 tuples may take."""


class RetrievalSettings(Frozen):
    """How large a bank, and how often it is asked."""

    tuples: int = Field(default=100_000, ge=100, description="Tuples of the made-up bank.")
    searches: int = Field(default=9, ge=1, description="Searches of each kind; medians are given.")


class RetrievalTimes(Frozen):
    """Milliseconds, medians."""

    tuples: int
    build_ms: float = Field(description="First search after a change: the index is built again.")
    fresh_ms: float = Field(description="First search of a process that finds the index kept.")
    warm_ms: float = Field(description="Search of a process that has searched before.")
    database_ms: float = Field(description="The similarities alone, computed by DuckDB instead.")
