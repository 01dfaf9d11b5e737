"""The short answers of the tools: data that a client sees as JSON."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from ci.model.frozen import Frozen

PAGE: Final = 10
"""Rows of one page of a long answer."""

EVIDENCE: Final = 1200
"""Characters of a compiler's or sanitizer's text in one answer."""


class SourceFile(Frozen):
    """A source that a patch may change."""

    path: str = Field(description="Relative to the operator's folder.")
    lines: int


class LoadedOperator(Frozen):
    """An operator that later calls name by `operator`."""

    operator: str
    cases: tuple[str, ...]
    sources: tuple[SourceFile, ...]
    outcome: str = Field(description="Of the unmodified operator: ok, or why it fails.")
    baseline_us: float | None = Field(description="Geometric mean over the cases in µs.")
    time: str = Field(description="'simulated' or 'measured', and the device.")
    next: str = Field(description="How to read the sources.")


class CaseTime(Frozen):
    """One case of the workload."""

    case: str
    before_us: float
    after_us: float
    speedup: float


class EvaluatedPatch(Frozen):
    """One evaluation of a patch."""

    trial: int = Field(description="Its number in this server's store.")
    outcome: str = Field(description="ok, compile_error, wrong_result, race, memory_error, …")
    reason: str = Field(default="", description="The sentence of the check that refused it.")
    evidence: str = Field(default="", description="Compiler text, hazard pair, worst elements.")
    warnings: tuple[str, ...] = ()
    score_us: float | None = None
    speedup: float | None = Field(default=None, description="Baseline over this, geometric mean.")
    cases: tuple[CaseTime, ...] = ()
    evaluations_left: int


class ComparedPatch(Frozen):
    """A patch compared with the baseline under all start states and moved constants."""

    trial: int
    outcome: str
    reason: str = ""
    speedup: float | None = None
    least: float | None = Field(default=None, description="Over all members.")
    most: float | None = None
    least_under: str = Field(default="", description="The member that gives the least speedup.")
    states: dict[str, float] = Field(
        default={}, description="Speedup by start state of the launch."
    )
    evaluations_left: int


class Fault(Frozen):
    """One finding of a check."""

    kind: str
    severity: str = Field(description="error, warning or note.")
    place: str = Field(description="File and line, '' where unknown.")
    other: str = Field(default="", description="Of two accesses, the earlier one.")
    case: str
    text: str
    evidence: str = ""
    advice: str = ""


class CheckedOperator(Frozen):
    """What is wrong with an operator as it is."""

    summary: str
    findings: tuple[Fault, ...]
    notes: tuple[str, ...] = Field(default=(), description="What was not checked, and why.")
    further: int = Field(description="Page with more of them; 0 when there is none.")


class Bottleneck(Frozen):
    """Where the time goes."""

    outcome: str
    reason: str = ""
    bottleneck: str = ""
    evidence: tuple[str, ...] = ()
    roofline: tuple[str, ...] = ()
    busy: dict[str, float] = Field(default={}, description="Busy share of each pipe.")
    waits: dict[str, float] = Field(default={}, description="Mean cycles, 'who<-for whom'.")
    hot_lines: tuple[str, ...] = ()
    trace: str = Field(default="", description="Chrome trace on this server's disk.")


class Lesson(Frozen):
    """An experience tuple."""

    id: str
    title: str
    description: str
    bottleneck: str
    speedup: float | None
    diff: str


class Lessons(Frozen):
    """A page of experience tuples."""

    found: tuple[Lesson, ...]
    further: int = Field(description="Page with more of them; 0 when there is none.")


class Move(Frozen):
    """An optimization that the rules know."""

    id: str
    stage: str
    title: str
    bottleneck: str
    why: str


class Moves(Frozen):
    """A page of moves."""

    moves: tuple[Move, ...]
    further: int = Field(description="Page with more of them; 0 when there is none.")


class Proposal(Frozen):
    """A change that the rules would try next; nothing is built yet."""

    rationale: str
    patch: str = Field(description="Unified diff that evaluate_patch takes.")


class Proposals(Frozen):
    """Changes that the rules would try next."""

    proposals: tuple[Proposal, ...]


class MadeOperator(Frozen):
    """An operator that was made of a function."""

    operator: str
    folder: str
    verified_cases: int
    times_us: dict[str, float]
    notes: tuple[str, ...] = ()


class CensusOperator(Frozen):
    """How far one operator gets."""

    operator: str
    judged: str
    stopped_by: str = ""


class CensusPage(Frozen):
    """A page of a census."""

    operators: int
    run: int = Field(description="Those whose kernel runs.")
    rows: tuple[CensusOperator, ...]
    further: int = Field(description="Page with more of them; 0 when there is none.")


class RecordedWin(Frozen):
    """The final verification of a patch."""

    verdict: str
    reason: str
    speedup: float
    least: float | None = Field(default=None, description="Over all start states and constants.")
    folder: str
    submit: str = Field(default="", description="Command that opens the merge request.")
