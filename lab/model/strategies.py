"""What `bench strategies` is asked, and how the strategies compare."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from ci.model.budget import ModelLimits
from ci.model.frozen import Frozen
from ci.model.settings import PoolOptions
from lab.model.chosen import Searches
from lab.model.paired import Difference

THRESHOLDS: Final = (1.0, 1.1, 1.2, 1.5, 2.0)
"""The p of fast_p: the share of runs whose verified speedup is above p."""

SUITE: Final = "default"
"""Name of a suite that was not given one."""


class StrategyBenchSettings(ModelLimits, PoolOptions, Searches):
    """What is compared, on what, and for how much."""

    strategies: str = Field(
        default="handover,adaptive,ascendoptimizer,tiling,kernel,no_bank,best_of_n,random,accelopt",
        description="Arms, separated by commas: those of docs/benchmark.md, or the name of any"
        " strategy. The first one is held against each other one.",
    )
    seeds: int = Field(default=3, ge=1, description="Runs of each arm and operator, seeds 0, 1, …")
    suite: str = Field(
        default=SUITE,
        pattern=r"^[a-z0-9-]+$",
        description="What the operators with these workloads are called on the page: small, large.",
    )
    top_k: int = Field(default=5, ge=0, description="Experience tuples retrieved for a step.")
    run: bool = Field(
        default=True, description="Make the runs that --out lacks, before telling what it holds."
    )


class Arm(Frozen):
    """What is compared: a strategy with settings, under a name."""

    name: str
    title: str = Field(description="In the tables.")
    strategy: str = Field(description="Name in ci/search/strategies.")
    options: dict[str, int | float | str] = Field(
        default={}, description="The strategy's own options, where they are not its defaults."
    )
    stage: Literal["both", "tiling", "kernel"] = "both"
    bank: bool = Field(default=True, description="Whether kernel steps are offered experience.")
    shorter: tuple[int, ...] = Field(
        default=(),
        description="Smaller budgets that the beginning of a run answers for, because the strategy"
        " asks for the same whatever its budget is and builds on nothing.",
    )


class CaseTime(Frozen):
    """One case before and after, with the least time that its bytes and arithmetic need."""

    case: str
    weight: float
    before_us: float
    after_us: float
    floor_us: float | None = Field(description="None where the chip's peaks are not known.")


class Cell(Frozen):
    """One run: an operator, an arm, a seed. Its trials are those of its folder."""

    operator: str
    arm: str
    seed: int
    folder: str = Field(description="From --out; holds trials.sqlite and result.json.")
    verdict: str
    reason: str
    speedup: float = Field(description="Of the verified best; 1 when there is none.")
    best_trial: int = Field(description="Number of that trial; 0 for the original operator.")
    cases: tuple[CaseTime, ...]
    best_after: tuple[float, ...] = Field(description="Speedup of the best after each evaluation.")
    best_trial_after: tuple[int, ...] = Field(description="The trial that reached it.")
    outcomes: dict[str, int] = Field(description="Trials by how they ended, as KINDS names them.")
    evaluations: int
    granted: int = Field(description="The run's budget.")
    wall_seconds: float
    cpu_seconds: float = Field(description="Of the run's process and what it started, in s.")
    tokens: int
    money: float
    fingerprint: str = Field(description="Device and version that the times come from.")


KINDS: Final = {
    "faster": "faster than its parent",
    "slower": "slower, or by less than the backend tells",
    "unchanged": "equal in every case",
    "unfit": "refused by a later gate",
    "rejected": "refused by the guard",
    "compile_error": "not compiled",
    "launch_error": "launch failed",
    "timeout": "timed out",
    "race": "race",
    "memory_error": "memory error",
    "wrong_result": "wrong result",
    "cached": "equal to an earlier one, free",
    "refused": "against the rules of its stage, free",
}
"""How trials end, with their words. The last two cost no evaluation."""

FREE: Final = ("cached", "refused")


class Row(Frozen):
    """One arm over all operators that every arm has finished."""

    arm: str
    title: str
    runs: int
    mean: float = Field(description="Geometric mean over operators, an operator's seeds first.")
    low: float = Field(description="Lower end of the 95 % bootstrap interval over operators.")
    high: float
    fast: dict[str, float] = Field(description="Share of runs with a speedup above each p.")
    floor_before: float | None = Field(
        description="Mean over the unchanged operators of floor / time; None if not known, and for"
        " a smaller budget that is read off the beginning of another run."
    )
    floor_after: float | None
    curve: tuple[float, ...] = Field(
        description="Geometric mean of the best after each evaluation."
    )
    outcomes: dict[str, int] = Field(description="Trials of all runs, by KINDS.")
    evaluations: float = Field(description="Mean a run.")
    spent: float = Field(
        description="Share of the runs that searched to the end of their budget; the final check"
        " costs one evaluation where there is something to check."
    )
    wall_seconds: float = Field(description="Mean a run.")
    cpu_seconds: float = Field(description="Mean a run.")
    tokens: float = Field(description="Mean a run.")
    money: float = Field(description="Mean a run.")


class Versus(Frozen):
    """The first arm against another."""

    arm: str
    title: str
    difference: Difference


class LeftOut(Frozen):
    """An operator, or a run of it, that is in no table."""

    operator: str = Field(description="Its name; for a run its folder from --out.")
    reason: str


class StrategyBench(Frozen):
    """All cells, and what they add up to."""

    settings: StrategyBenchSettings
    proposer: str
    device: str
    version: str
    bank_tuples: int
    arms: tuple[Arm, ...]
    cells: tuple[Cell, ...]
    compared: tuple[str, ...] = Field(description="Operators in the tables.")
    seeds: int = Field(description="Most seeds that an operator has in the tables.")
    rows: tuple[Row, ...]
    versus: tuple[Versus, ...]
    left_out: tuple[LeftOut, ...] = ()
    unfinished: tuple[str, ...] = Field(
        default=(), description="Operators that some arm has not run yet."
    )

    @property
    def titles(self) -> dict[str, str]:
        """The arms' titles by name, those of shorter budgets included."""
        return {row.arm: row.title for row in self.rows}
