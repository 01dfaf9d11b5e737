"""What `bench ablation` is asked, and what each part of the method was worth."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from pydantic import Field

from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.settings import DEFAULT_DEVICE, PoolOptions
from lab.model.paired import Difference

Arm: TypeAlias = Literal["tiling", "kernel", "both", "both_no_bank", "kernel_no_bank"]

ARMS: Final[tuple[Arm, ...]] = ("tiling", "kernel", "both", "both_no_bank", "kernel_no_bank")

TITLES: Final[dict[Arm, str]] = {
    "tiling": "Stage I only",
    "kernel": "Stage II only",
    "both": "both",
    "both_no_bank": "both, without bank",
    "kernel_no_bank": "Stage II only, without bank",
}

THRESHOLDS: Final = (1.0, 1.2, 1.4, 2.0)


class AblationSettings(PoolOptions):
    """What is compared, and for how much."""

    budget: int = Field(
        default=8, ge=3, description="Evaluations of a run, baseline and final check included."
    )
    seeds: int = Field(default=1, ge=1, description="Runs of each arm and operator, seeds 0, 1, …")
    arms: str = Field(
        default=",".join(ARMS), description="Arms to run, separated by commas; all by default."
    )
    weaken: int = Field(
        default=0,
        ge=0,
        description="Begin from the operator with this many of its own optimizations taken back, "
        "as the bank knows them; 0: unchanged.",
    )
    top_k: int = Field(default=5, ge=1, description="Experience tuples retrieved for a step.")
    learn: bool = Field(
        default=False, description="Add what the runs taught to the bank, when all are done."
    )
    device: str = Field(default=DEFAULT_DEVICE, description="Device model (rules/devices).")

    def chosen(self) -> tuple[Arm, ...]:
        """The arms in their order; raises `InputError` for one that there is not."""
        wanted = [a.strip() for a in self.arms.split(",") if a.strip()]
        unknown = [a for a in wanted if a not in ARMS]
        if unknown or not wanted:
            raise InputError(
                f"There is no arm {', '.join(unknown) or 'given'}; known: {', '.join(ARMS)}."
            )
        return tuple(a for a in ARMS if a in wanted)


class Cell(Frozen):
    """One run: an operator, an arm, a seed."""

    operator: str
    arm: Arm
    seed: int
    speedup: float
    baseline_us: float
    evaluations: int
    best_after: tuple[float, ...] = Field(description="Speedup of the best after each evaluation.")


class AblationRow(Frozen):
    """One arm over all operators and seeds."""

    arm: Arm
    runs: int
    mean: float = Field(description="Geometric mean of the speedups.")
    fast: dict[str, float] = Field(description="Share of runs at or above each threshold.")


class Ablation(Frozen):
    """All cells, and what they add up to."""

    settings: AblationSettings
    device: str
    version: str
    bank_tuples: int
    cells: tuple[Cell, ...]
    rows: tuple[AblationRow, ...]
    stage_two: Difference | None = Field(description="None unless both arms of Stage II were run.")
    both: Difference | None = None
    left_out: tuple[str, ...] = Field(
        default=(), description="Operators without a weakened form, or that do not pass."
    )
