"""The words of one evaluation: candidate, outcome, refusal, measurement, trial (design §3)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from math import exp, log
from statistics import fmean
from typing import Literal

from pydantic import Field, PositiveFloat

from ci.model.ensemble import Condition
from ci.model.frozen import Frozen
from ci.model.paired import Paired


class Outcome(StrEnum):
    """How an evaluation ended."""

    OK = "ok"
    REJECTED = "rejected"
    COMPILE_ERROR = "compile_error"
    LAUNCH_ERROR = "launch_error"
    TIMEOUT = "timeout"
    RACE = "race"
    MEMORY_ERROR = "memory_error"
    WRONG_RESULT = "wrong_result"
    UNFIT = "unfit"
    """Right and measured on its workload, but refused by a later gate."""


class Place(Frozen):
    """Where something was seen, as far as that is known."""

    case: str = Field(default="", description="Name of the workload case, or of a further one.")
    seed: int | None = Field(default=None, description="Seed that the inputs were drawn from.")
    file: str = Field(default="", description="Source file, relative to the operator's folder.")
    line: int = Field(default=0, description="1-based source line; 0 when unknown.")

    @property
    def source(self) -> str:
        """'op_kernel/a.cpp:7', the file alone, or ''."""
        return f"{self.file}:{self.line}" if self.file and self.line else self.file


class Unwritten(Frozen):
    """Bytes of an output that a launch left as they were."""

    output: int = Field(description="Its place in the definition, counted from 0.")
    first: int = Field(description="The first of them.")
    count: int
    size: int = Field(description="Bytes of the tensor.")
    added: bool = Field(default=False, description="Atomic stores added to some of them.")


class Refusal(Frozen):
    """Why a candidate was refused, and by which gate."""

    gate: str = Field(default="", description="Name of the gate that refused.")
    place: Place = Place()
    other: Place = Field(default=Place(), description="Of two accesses, the earlier one.")
    sentence: str = Field(description="One sentence for the operator's author.")
    evidence: str = Field(default="", description="Compiler text, hazard pair, worst elements.")
    unwritten: Unwritten | None = None

    @property
    def message(self) -> str:
        """The sentence, with the case and the seed that showed it in front."""
        if not self.place.case:
            return self.sentence
        seed = "" if self.place.seed is None else f", seed {self.place.seed}"
        return f"case {self.place.case}{seed}: {self.sentence}"


class MachineWarning(Frozen):
    """Something odd that a launch did and that did not fail it."""

    kind: str = Field(description="Identifier that the machine gives: padding, overlap, …")
    subject: str = Field(default="", description="Instruction or buffer that it is about.")
    place: Place = Place()
    other: Place = Field(default=Place(), description="Of two accesses, the earlier one.")
    text: str = Field(description="One sentence for the operator's author.")

    @property
    def is_fault(self) -> bool:
        """False for what only tells a reader where to look: a read of what nothing wrote does no
        harm unless it reaches an output, which then holds no plausible value; and another front
        door may suit the kernel better; what the compiler orders is right where it does."""
        return self.kind not in (
            "uninitialised",
            "door",
            "compiler_order",
            "half_sum",
            "wrapped",
            "narrowed_field",
        )

    @property
    def key(self) -> tuple[str, str, str]:
        """Equal for warnings of one kind: an edit moves lines and changes the numbers."""
        return (self.kind, self.subject, self.place.file)

    @property
    def message(self) -> str:
        """The text with its case and its source place in front."""
        return ": ".join(p for p in (self.place.case, self.place.source, self.text) if p)


class Site(Frozen):
    """Where a motif changed a source, named so that lines added elsewhere do not move it."""

    motif: str
    form: int = Field(default=0, description="Which of the motif's forms: factor 2, factor 4.")
    file: str = Field(description="Path relative to the operator's folder.")
    function: str = Field(description="Name of the function around it; '' outside functions.")
    node: str = Field(description="The name that a call calls, else the kind of syntax node.")
    ordinal: int = Field(description="Which of such nodes in that function, from 0, as written.")


class Change(Frozen):
    """One thing that a candidate does to the sources, in words."""

    what: str = Field(description="What the sources do now that they did not do before.")
    why: str = Field(default="", description="Why that may be faster, a sentence; '' if unknown.")
    path: str = Field(default="", description="The changed source, relative to the operator.")
    functions: tuple[str, ...] = Field(default=(), description="The changed functions in it.")
    knob: str = Field(default="", description="The tiling knob that is set; '' for other edits.")
    undone: bool = Field(default=False, description="The candidate takes this earlier change back.")


class Candidate(Frozen):
    """The changed texts of tiling T or kernel K."""

    files: dict[str, str] = Field(
        default_factory=dict,
        description="Full new text by path relative to the operator's folder; changed files only.",
    )
    stage: Literal["baseline", "tiling", "kernel", "joint", "rewind"] = "baseline"
    parent: str = Field(default="", description="Hash of the candidate this one was made from.")
    proposer: str = Field(default="", description="Who proposed it: rules, llm, replay, a person.")
    role: str = Field(default="", description="Role of the model that proposed it; '' for rules.")
    model: str = Field(default="", description="Name of that model.")
    rationale: str = Field(default="", description="Why it should be faster, in one sentence.")
    motif_ids: tuple[str, ...] = ()
    sites: tuple[Site, ...] = Field(
        default=(), description="Where its motifs were applied: what was tried, for comparing."
    )
    tuple_ids: tuple[str, ...] = Field(default=(), description="Experience tuples it used.")
    knobs: dict[str, int | float | str] = Field(
        default_factory=dict, description="Values of the tiling knobs that a parametric step set."
    )

    parts: tuple[Change, ...] = Field(
        default=(), description="What it does to its parent; empty where `rationale` says it all."
    )

    @property
    def own_parts(self) -> tuple[Change, ...]:
        """Return its changes to its parent: its parts, or its rationale as the only one."""
        return self.parts or ((Change(what=self.rationale),) if self.rationale else ())

    @cached_property
    def hash(self) -> str:
        """16 hex digits over the changed texts; equal for equal programs."""
        digest = hashlib.sha256()
        for path in sorted(self.files):
            digest.update(path.encode() + b"\0" + self.files[path].encode() + b"\0")
        return digest.hexdigest()[:16]


class Fingerprint(Frozen):
    """The origin of a figure: backend, device and versions."""

    backend: Literal["sim", "cann", "camodel", "replay"]
    device: str = Field(description="910B4, or the SoC that the driver reports.")
    version: str = Field(description="Simulator and device-model version, or driver and CANN.")
    simulated: bool
    headers: str = Field(
        default="own",
        description="AscendC headers of the kernels: own, or the name and digest of a real tree.",
    )
    counted_with: str = Field(
        default="",
        description="The compiler in whose code the simulator counts scalar instructions, with its"
        " version and what it compiles for: another one gives times that differ by some percent.",
    )
    state: Condition = Field(
        default="cold", description="The state that launches begin in, where time is simulated."
    )


class PipeTime(Frozen):
    """Busy time of each pipe, mean over cores, and what was moved, for one case."""

    total_cycles: int = Field(description="From launch to the last core's end, in core cycles.")
    block_dim: int
    busy_cycles: dict[str, float] = Field(
        description="Mean busy cycles per core by pipe: SCALAR, VECTOR, CUBE, MTE1, MTE2, MTE3, FIX"
    )
    wait_cycles: dict[str, float] = Field(
        default_factory=dict,
        description="Mean cycles a pipe waited for another, by 'VECTOR<-MTE2' (who for whom).",
    )
    instructions: dict[str, int] = Field(
        default_factory=dict, description="Instruction counts over all cores by mnemonic."
    )
    gm_read_bytes: int = 0
    gm_write_bytes: int = 0
    tensor_write_bytes: int | None = Field(
        default=None,
        description="Of the bytes written, those into inputs and outputs. None where nobody"
        " counted it.",
    )
    first_read_bytes: int | None = Field(
        default=None,
        description="Of the lines that were read before anything had touched them and lay in no"
        " cache: what reading nothing again would leave. None where nobody counted it.",
    )
    first_written_bytes: int | None = Field(
        default=None, description="The same of the lines that were written first."
    )
    bank_conflict_cycles: float = Field(default=0.0, description="Mean cycles per core.")
    inserted_waits: int = Field(default=0, description="Waits that automatic sync inserted.")
    inserted_barriers: int = Field(default=0, description="Of these, within a pipe.")
    workspace_unused_bytes: int = Field(
        default=0, description="Of the workspace, behind the last byte that was written."
    )
    ub_peak_bytes: int = 0
    imbalance: float = Field(default=1.0, description="Slowest core's cycles over the mean's.")
    counters: dict[str, float] = Field(
        default_factory=dict,
        description="What a device's profiler counts besides, mean over cores, by its columns:"
        " hit rates of L2, shares of dtypes, bandwidths.",
    )
    hot_lines: tuple[tuple[str, int, float], ...] = Field(
        default=(), description="(file, line, busy cycles of core 0), the costliest first."
    )
    ran: dict[str, tuple[int, ...]] = Field(
        default_factory=dict,
        description="Lines of the operator's sources that the first and the last core ran"
        " instructions of, and from which these were called, by file.",
    )


class CaseMeasurement(Frozen):
    """The time of one workload case."""

    case: str
    samples_us: tuple[float, ...] = Field(description="One a repetition, in µs.")
    median_us: float
    low_us: float = Field(description="Lower end of the 95 % interval of the median, in µs.")
    high_us: float
    tiling_key: int = 0
    pipes: PipeTime
    weight: float = Field(default=1.0, gt=0, description="Its share in means over cases.")
    members_us: dict[str, PositiveFloat] = Field(
        default={},
        description="Time in µs by member of an ensemble: a condition of the launch, or a constant"
        " of the machine that is moved.",
    )
    against_us: tuple[float, ...] = Field(
        default=(), description="The baseline's samples, each taken in turn with one of these."
    )
    paired: Paired | None = Field(
        default=None, description="What these pairs say; None where time repeats exactly."
    )


def weighted_mean(values: Iterable[float], cases: Iterable[CaseMeasurement]) -> float:
    """Geometric mean of one value a case."""
    return exp(fmean([log(v) for v in values], [c.weight for c in cases]))


class Measurement(Frozen):
    """Times of all cases of a workload, with the backend that gave them."""

    fingerprint: Fingerprint
    cases: tuple[CaseMeasurement, ...]
    paired: Paired | None = Field(
        default=None, description="Of the mean over the cases; None for the baseline itself."
    )

    def over(self, members_us: Mapping[str, Mapping[str, float]]) -> Measurement:
        """The same with the times of an ensemble, by case and member."""
        cases = tuple(
            case.model_copy(update={"members_us": dict(members_us.get(case.case, {}))})
            for case in self.cases
        )
        return self.model_copy(update={"cases": cases})

    @property
    def score_us(self) -> float:
        """Geometric mean of the cases' medians, in µs: the figure that the search compares."""
        return weighted_mean((c.median_us for c in self.cases), self.cases)


class CaseOutcome(Frozen):
    """How one case of the workload ended, over the seeds that it was launched on."""

    case: str
    outcome: Outcome
    refusal: Refusal | None = Field(default=None, description="None when outcome is ok.")


class Trial(Frozen):
    """One evaluation: a candidate with its outcome. Every one is kept (design §3)."""

    number: int = Field(description="0 for the baseline, then counting up within a run.")
    candidate: Candidate
    outcome: Outcome
    refusal: Refusal | None = Field(default=None, description="None when outcome is ok.")
    gates: tuple[str, ...] = Field(
        default=(), description="Names of the gates that it passed, in the order asked."
    )
    cases: tuple[CaseOutcome, ...] = Field(
        default=(),
        description="Each case that was launched; the first that was refused gives the outcome.",
    )
    measurement: Measurement | None = Field(
        default=None, description="Only when outcome is ok or unfit."
    )
    seconds: float = Field(default=0.0, description="Wall time of the evaluation, in s.")
    warnings: tuple[MachineWarning, ...] = ()
    cached: bool = Field(default=False, description="Answered from an equal earlier candidate.")
    predicted: Measurement | None = Field(
        default=None,
        description="Prediction of the screening simulator for a candidate that a device measured.",
    )
    screened: bool = Field(
        default=False, description="Decided by that simulator; no device was asked."
    )
    program: str = Field(
        default="",
        description="Digest of what every case runs, kernel and tiling's answer; '' if unknown.",
    )
