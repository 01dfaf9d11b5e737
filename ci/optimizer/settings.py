"""The options of a run, declared once: the command line and the documentation come from here."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ci.budget import ModelLimits


class OptimizeSettings(ModelLimits):
    """How to search. The defaults spend 40 evaluations as the paper's Algorithm 1 does."""

    budget: int = Field(
        default=40,
        description="Evaluations in all: the baseline and the final verification cost one each.",
    )
    stage: Literal["both", "tiling", "kernel"] = Field(
        default="both", description="Optimize the host tiling, the kernel, or both in turn."
    )
    strategy: Literal["ascendoptimizer"] = Field(
        default="ascendoptimizer", description="The search: Algorithm 1 of AscendOptimizer."
    )
    rounds: int = Field(default=10, ge=1, description="Rounds R of tiling and kernel steps.")
    tiling_steps: int = Field(default=4, ge=1, description="Tiling steps U in a round.")
    kernel_steps: int = Field(default=6, ge=1, description="Kernel steps S in a round.")
    top_k: int = Field(default=5, ge=0, description="Experience tuples retrieved for a step.")
    seed: int = Field(default=0, ge=0, description="Same seed, same sources: same trials.")
    other_shapes: bool = Field(
        default=True,
        description="Inherit only what also works on shapes near the workload's.",
    )
    wall_minutes: float = Field(
        default=0.0, ge=0.0, description="Stop starting evaluations after this long; 0: no limit."
    )
    learn: bool = Field(default=True, description="Keep in the bank what the kernel steps taught.")
    resume: bool = Field(default=False, description="Continue the run that --out holds.")
