"""Rows of a census: one for each operator, with the stages that it passed and why it failed."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.operator import BuildFact
from ci.model.settings import DEFAULT_DEVICE, AscHeaders, AsChip, PoolOptions


class Stage(StrEnum):
    """How far an operator can get, in order; a later one needs most of the earlier ones."""

    FOUND = "found"
    DEFINITION = "definition"
    HOST_BUILDS = "host_builds"
    TILING_RUNS = "tiling_runs"
    KERNEL_BUILDS = "kernel_builds"
    RUNS = "runs"
    VERIFIED = "verified"


STAGE_WORDS = {
    Stage.FOUND: "found",
    Stage.DEFINITION: "definition read",
    Stage.HOST_BUILDS: "host tiling builds",
    Stage.TILING_RUNS: "host tiling runs",
    Stage.KERNEL_BUILDS: "kernel builds",
    Stage.RUNS: "kernel runs",
    Stage.VERIFIED: "result verified",
}

Unit = Literal["vector", "cube", "hccl"]


class Failure(Frozen):
    """The first error of one stage."""

    stage: Stage
    kind: str = Field(description="Class of the reason, such as 'missing header' or 'race'.")
    what: str = Field(default="", description="What is missing: a header, a symbol; '' if nothing.")
    message: str = Field(description="The error as it was said.")
    place: str = Field(default="", description="'file:line' in the operator's sources, if known.")

    @property
    def reason(self) -> str:
        """Kind and thing in a few words, equal for equal reasons."""
        return f"{self.kind} {self.what}".strip()


class CensusRow(Frozen):
    """One operator's census."""

    name: str
    category: str
    path: str = Field(description="Folder of the operator, from the repository's top.")
    op_type: str = ""
    unit: Unit = Field(default="vector", description="What the kernel's text asks the core for.")
    declared_for_chip: bool = Field(
        default=True, description="The definition names the 910B, or names no chip."
    )
    auto_sync: Literal["on", "off", "open", ""] = Field(
        default="", description="Automatic synchronisation of its kernel; open: judged both ways."
    )
    auto_sync_said_by: str = Field(default="", description="Where the build says so.")
    build_facts: tuple[BuildFact, ...] = Field(
        default=(), description="Include folders, options and their like, and who says each."
    )
    tried_as: str = Field(
        default="", description="The chip it was tried as, where it is declared for others only."
    )
    passed: tuple[Stage, ...]
    failures: tuple[Failure, ...] = ()
    case: str = Field(default="", description="What was run: workload, example or generic shapes.")
    judged: Literal["verified", "probed", "built", ""] = Field(
        default="",
        description="verified: against a golden; probed: ran on derived shapes, result not judged.",
    )
    version: str = Field(default="", description="Version of the simulator that was tried.")
    seconds: float = 0.0

    def passes(self, stage: Stage) -> bool:
        """Whether the operator got through `stage`."""
        return stage in self.passed


MOST_REASONS = 20
"""Reasons that a report names."""


class Reason(Frozen):
    """One reason and whom it stops."""

    reason: str
    stage: Stage
    operators: tuple[str, ...] = Field(description="Operators whose first error it is.")


class Summary(Frozen):
    """The sums of a census."""

    operators: int
    for_chip: int = Field(description="Operators whose definition names the 910B, or no chip.")
    reached: dict[Stage, int] = Field(description="Operators that passed each stage.")
    reached_for_chip: dict[Stage, int]
    by_category: dict[str, dict[Stage, int]]
    auto_sync: dict[str, int] = Field(
        default={}, description="Operators of the chip by automatic synchronisation: on, off, open."
    )
    tried_as: dict[str, int] = Field(
        default={},
        description="Operators declared for other chips only that were tried as the 910B, by how"
        " far they got: found, runs, verified.",
    )
    reasons: tuple[Reason, ...] = Field(
        description="First errors by how many operators they stop, most first: those of the chip"
        " and those tried as if they were."
    )
    versions: tuple[str, ...] = Field(description="Simulator versions the rows come from.")
    left_out: str = Field(
        default="", description="Kernels of the repository that belong to no operator."
    )


ROWS = "census.jsonl"
"""Name of the file with one row a line; a later row of an operator replaces an earlier one."""


class CensusSettings(PoolOptions):
    """Settings of a census."""

    operators: str = Field(
        default="*",
        description="Glob over operator names, category/name or paths: 'foreach_*', 'src/*/grad'.",
    )
    workloads: Path | None = Field(
        default=None,
        description="Folder with <operator>/workload.yaml for operators without a workload.",
    )
    device: str = Field(default=DEFAULT_DEVICE, description="Device model (rules/devices).")
    asc_headers: AscHeaders = ""
    again: Literal["missing", "failed", "all"] = Field(
        default="missing",
        description="Which operators to try: those that the census in --out does not hold yet; also"
        " those that failed or were only probed and have a workload now; or all.",
    )
    as_: AsChip = None
    read_only: bool = Field(
        default=False,
        description="Only read what the definition and the build say; build and run nothing.",
    )
    seconds: float = Field(
        default=600.0, gt=0, description="Wall time that one operator may take, in s."
    )
