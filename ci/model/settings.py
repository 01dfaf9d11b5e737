"""The options of a run, declared once: the command line and the documentation come from here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator

from ci.model.budget import ModelLimits
from ci.model.ensemble import Caches, Ensemble, Inputs, ensemble
from ci.model.frozen import Frozen

DEFAULT_DEVICE = "910B4"
"""The device of every option that is not given. Code below the options is always told one."""


class OptimizeSettings(ModelLimits):
    """What a search may spend and change, by whatever strategy.

    The defaults spend 40 evaluations as the paper's Algorithm 1 does.
    """

    budget: int = Field(
        default=40,
        description="Evaluations in all: the baseline and the final verification cost one each.",
    )
    stage: Literal["both", "tiling", "kernel"] = Field(
        default="both", description="Optimize the host tiling, the kernel, or both in turn."
    )
    top_k: int = Field(default=5, ge=0, description="Experience tuples retrieved for a step.")
    seed: int = Field(default=0, ge=0, description="Same seed, same sources: same trials.")
    other_shapes: bool = Field(
        default=True,
        description="Inherit only what also works on shapes near the workload's.",
    )
    wall_minutes: float = Field(
        default=120.0,
        ge=0.0,
        description="Stop starting evaluations after this long and report what was found; 0: no"
        " limit.",
    )
    learn: bool = Field(default=True, description="Keep in the bank what the steps taught.")
    resume: bool = Field(default=False, description="Continue the run that --out holds.")


ON_DEVICE = ("cann", "cann-direct")
"""Backends that need an NPU, one for each worker."""

ONE_AT_A_TIME = (*ON_DEVICE, "camodel")
"""Backends that run under a toolkit's profiler, which takes one task at a time."""


def pool_of(spec: str) -> tuple[Literal["local", "ray"], str]:
    """Kind of a pool, and how many workers or which address. Raises ValueError with a sentence."""
    kind, _, value = spec.partition(":")
    if kind == "local" and value.isdigit() and int(value) > 0:
        return "local", value
    if kind == "ray" and value:
        return "ray", value
    raise ValueError("a pool is local:N with N workers, or ray:ADDRESS")


class PoolOptions(Frozen):
    """Where evaluations run."""

    pool: str = Field(
        default="",
        description="Where evaluations run: local:N in N workers on this host, each with an NPU of"
        " its own where the backend needs one; ray:ADDRESS on a Ray cluster. Not given: one at a"
        " time in this process, and two workers for what goes over many operators.",
    )

    @field_validator("pool")
    @classmethod
    def _known(cls, pool: str) -> str:
        if pool:
            pool_of(pool)
        return pool


TWO_WORKERS = "local:2"
"""The pool of what goes over many operators where none is given."""


AscHeaders = Annotated[
    str,
    Field(
        description="Real AscendC headers to compile kernels against: an asc-devkit checkout, a"
        " toolkit's folder, or the word installed for $ASCEND_HOME_PATH. Without it the variable"
        " ASCENDOPT_ASC_HEADERS counts, and else our own headers.",
    ),
]
"""The option that opens the second front door, wherever kernels are compiled."""


class EvaluationSetup(Frozen):
    """What an operator is evaluated with: workload, backend and device."""

    workload: Path | None = Field(
        default=None,
        description="Workload file or cann-bench task folder; workload.yaml beside the operator"
        " when not given.",
    )
    backend: str = Field(
        default="sim",
        description="What builds and runs candidates: sim, cann, cann-direct, camodel or replay.",
    )
    device: str = Field(default=DEFAULT_DEVICE, description="Device model (rules/devices) or SoC.")
    asc_headers: AscHeaders = ""
    recording: Path | None = Field(
        default=None,
        description="File that --backend replay answers from, and that any other one writes.",
    )
    jobs: int = Field(
        default=1,
        ge=1,
        description="Cases of an evaluation that are built and simulated side by side; the results"
        " are those of one job.",
    )


class ScreenOptions(Frozen):
    """Whether two tiers judge."""

    screen: bool = Field(
        default=True,
        description="Where a device measures, let the simulator decide what it finds wrong or sure"
        " to be slower, and keep its prediction beside what the device measures.",
    )


class ConditionOptions(Frozen):
    """The conditions of a launch that a figure covers."""

    conditions: Caches | None = Field(
        default=None,
        description="cold: no code in a core's caches, as `msprof op` sees a kernel; warm: as in a"
        " running model; or both. Not given: the search sees cold ones, what a run reports is"
        " measured over both.",
    )
    inputs: Inputs | None = Field(
        default=None,
        description="Where a launch finds its inputs: in the memory, in L2 as the kernel before"
        " has left them, or both. Not given: as --conditions.",
    )

    def given(self) -> bool:
        """Whether something was asked for."""
        return self.conditions is not None or self.inputs is not None

    def ensemble(self) -> Ensemble:
        """What final figures are measured over."""
        return ensemble(self.conditions or "both", self.inputs or "both", ranges=True)


class UncertaintyOptions(ConditionOptions):
    """The same for one evaluation, with what the machine's constants leave open."""

    uncertainty: bool = Field(
        default=False,
        description="Time each case also with every loosely known constant of the machine at both"
        " ends of its range, and under both conditions.",
    )

    def given(self) -> bool:
        """Whether something was asked for."""
        return self.uncertainty or super().given()

    def ensemble(self) -> Ensemble:
        """What the evaluation is measured over."""
        return super().ensemble().model_copy(update={"ranges": self.uncertainty})


class ProposerOptions(Frozen):
    """Who proposes candidates."""

    proposer: str = Field(
        default="rules",
        description="Who proposes: rules, llm (language models), or replay:RUN, which plays the"
        " recorded answers of an earlier run again.",
    )
    models: Path | None = Field(
        default=None,
        description="YAML file that says which model fills which role of --proposer llm;"
        " $ASCENDOPT_LLM_MODELS when not given.",
    )
