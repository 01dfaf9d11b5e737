"""What `bench pool` is asked and says: how many evaluations workers do, side by side."""

from __future__ import annotations

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.settings import PoolOptions


class PoolBenchSettings(PoolOptions):
    """Evaluations that sleep as one that waits for a device does."""

    workers: str = Field(
        default="1,2,4",
        description="Numbers of workers that are compared, separated by commas. On a cluster those"
        " beyond its room are left out.",
    )
    evaluations: int = Field(default=24, ge=1, description="Evaluations for each number.")
    seconds: float = Field(default=2.0, gt=0, description="Wall time that one sleeps, in s.")
    search: int = Field(
        default=0,
        ge=0,
        description="Measure a search with this budget instead, on an operator that comes with the"
        " program: each evaluation is made and then sleeps for 5 s.",
    )


class PoolRow(Frozen):
    """A pool of so many workers."""

    workers: int
    evaluations: int
    seconds: float
    """Wall time of all evaluations, the workers' start left out, in s."""
    start_seconds: float
    """Wall time until every worker has answered once, in s."""
    slept: float
    """What one evaluation slept, in s."""
    trials: str = ""
    """Digest of the search's trials of its trials, which must not differ between pools."""

    @property
    def an_hour(self) -> float:
        """Evaluations an hour."""
        return 3600 * self.evaluations / self.seconds

    @property
    def efficiency(self) -> float:
        """Evaluations over what as many workers without any overhead would do."""
        rounds = -(-self.evaluations // self.workers)
        return rounds * self.slept / self.seconds


class PoolBench(Frozen):
    """What was measured, by number of workers."""

    rows: tuple[PoolRow, ...]
