"""The options of a run, declared once: the command line and the documentation come from here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator

from ci.model.budget import ModelLimits
from ci.model.ensemble import Caches, Ensemble, Inputs, ensemble
from ci.model.frozen import Frozen

DEFAULT_DEVICE = "910B4"
"""Default of every `--device` option. Code below the options always gets a device."""


AsChip = Annotated[
    Literal["910B"] | None,
    Field(
        description="Try operators that are declared for other chips only as if they were for this"
        " one; what is said of them names their own.",
    ),
]
"""Option of commands that leave such operators alone."""


class OptimizeSettings(ModelLimits):
    """Budget and limits of a search, for every strategy.

    The defaults spend 40 evaluations as the paper's Algorithm 1 does.
    """

    budget: int = Field(
        default=40,
        description="Total number of evaluations. The baseline and the final verification cost"
        " one each.",
    )
    stage: Literal["both", "tiling", "kernel"] = Field(
        default="both", description="Optimize the host tiling, the kernel, or both in turn."
    )
    top_k: int = Field(
        default=5, ge=0, description="Number of experience tuples to retrieve for a step."
    )
    seed: int = Field(
        default=0,
        ge=0,
        description="Seed of the search. The same seed and sources give the same trials.",
    )
    other_shapes: bool = Field(
        default=True,
        description="Build only on candidates that also work on shapes near the workload's.",
    )
    wall_minutes: float = Field(
        default=120.0,
        ge=0.0,
        description="Start no evaluation after this many minutes, and report the best so far. 0: no"
        " limit.",
    )
    learn: bool = Field(
        default=True, description="Add the results of the steps to the experience bank."
    )
    resume: bool = Field(default=False, description="Continue the run in the folder of --out.")


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
        description="Where evaluations run. local:N: in N workers on this host, each with its own"
        " NPU if"
        " the backend needs one. ray:ADDRESS: on a Ray cluster. Default: one at a time in this"
        " process; two workers for commands that try many operators.",
    )

    @field_validator("pool")
    @classmethod
    def _known(cls, pool: str) -> str:
        if pool:
            pool_of(pool)
        return pool


TWO_WORKERS = "local:2"
"""Default pool of commands that try many operators."""


AscHeaders = Annotated[
    str,
    Field(
        description="Compile kernels with real AscendC headers: an asc-devkit checkout, a toolkit's"
        " folder, or the word installed for $ASCEND_HOME_PATH. Default: $ASCENDOPT_ASC_HEADERS, or"
        " our own headers if it is not set.",
    ),
]
"""The option that opens the second front door, wherever kernels are compiled."""


class EvaluationSetup(Frozen):
    """Workload, backend and device of an evaluation."""

    workload: Path | None = Field(
        default=None,
        description="Workload file or cann-bench task folder. Default: workload.yaml in the"
        " operator's folder.",
    )
    backend: str = Field(
        default="sim",
        description="Backend that builds and runs candidates: sim, cann, cann-direct, camodel or"
        " replay.",
    )
    device: str = Field(
        default=DEFAULT_DEVICE, description="Device model (rules/devices) or SoC name."
    )
    asc_headers: AscHeaders = ""
    recording: Path | None = Field(
        default=None,
        description="Recording file. --backend replay reads it; every other backend writes it.",
    )
    jobs: int = Field(
        default=1,
        ge=1,
        description="Number of cases that an evaluation builds and simulates in parallel. The"
        " results"
        " do not depend on it.",
    )


class ScreenOptions(Frozen):
    """Whether the simulator screens candidates before a device measures them."""

    screen: bool = Field(
        default=True,
        description="With a real NPU: do not measure candidates that the simulator rejects or"
        " predicts"
        " to be slower, and record its predictions.",
    )


class ConditionOptions(Frozen):
    """Launch conditions that a figure covers: caches and place of the inputs."""

    conditions: Caches | None = Field(
        default=None,
        description="Instruction cache of a launch. cold: empty, as under `msprof op`; warm: as in"
        " a running model; or both. Default: both.",
    )
    inputs: Inputs | None = Field(
        default=None,
        description="Where the inputs of a launch are: memory; l2 (left there by the kernel"
        " before); both; dirty (in memory, with L2 full of other kernels' written lines, which"
        " must be written back first); or all. Default: all.",
    )

    def given(self) -> bool:
        """Whether something was asked for."""
        return self.conditions is not None or self.inputs is not None

    def ensemble(self) -> Ensemble:
        """Conditions and ranges over which final figures are measured."""
        return ensemble(self.conditions or "both", self.inputs or "all", ranges=True)


class UncertaintyOptions(ConditionOptions):
    """Launch conditions of one evaluation, and whether uncertain constants are varied."""

    uncertainty: bool = Field(
        default=False,
        description="Also time each case with cold and warm caches, and with each loosely known"
        " constant of the machine model at both ends of its range.",
    )

    def given(self) -> bool:
        """Whether something was asked for."""
        return self.uncertainty or super().given()

    def ensemble(self) -> Ensemble:
        """Conditions and ranges over which the evaluation is measured."""
        return super().ensemble().model_copy(update={"ranges": self.uncertainty})


class ProposerOptions(Frozen):
    """Who proposes candidates."""

    proposer: str = Field(
        default="rules",
        description="Source of candidates: rules, llm (language models), agent (a command-line"
        " agent), or replay:RUN, which replays the recorded answers of an earlier run.",
    )
    models: Path | None = Field(
        default=None,
        description="YAML file with the model of each role for --proposer llm, or with the agent of"
        " --proposer agent. Default: $ASCENDOPT_LLM_MODELS.",
    )
