"""Rewind: remove the optimizations of a strong kernel one at a time, keep what hurts (paper §3).

Step t starts from K(t): every way to remove one optimization is evaluated. Each removal that
slows the operator by more than the noise floor becomes a tuple whose fast side is K(t); the
removal that hurts most becomes K(t+1). The walk ends when nothing that can be removed hurts, or
when the budget is spent. Removals that break or change nothing teach nothing and are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from pydantic import Field

from ci.budget import ModelLimits
from ci.operator import Operator
from ci.proposer.base import ModelUnavailable, Proposer, Rewound
from ci.trial import Candidate, Frozen, Outcome, Trial
from experience.bank import Bank
from experience.distill import Lesson, distill
from experience.tuple import ExperienceTuple


class EvaluatesCandidates(Protocol):
    """The part of the evaluator that rewind needs."""

    def evaluate(self, candidate: Candidate, number: int) -> Trial:
        """One trial of the candidate."""


class RewindSettings(ModelLimits):
    """How far to rewind, and what counts as hurting."""

    budget: int = Field(default=40, ge=2, description="Evaluations, the starting point included.")
    steps: int = Field(default=6, ge=1, description="Longest trajectory K(0) → K(1) → …")
    noise_floor: float = Field(
        default=0.01, ge=0.0, description="A removal must slow the operator by more than this."
    )


class RewindStep(Frozen):
    """One removal that was tried."""

    step: int
    title: str
    rule_id: str
    trial: Trial
    slowdown: float | None = Field(description="slow / fast; None when it did not run.")
    tuple_id: str = Field(default="", description="The tuple it became; '' when it taught nothing.")
    known: bool = Field(default=False, description="The bank had an equal tuple already.")


class RewindResult(Frozen):
    """A walk down from a strong kernel."""

    operator: str
    start: Trial
    steps: tuple[RewindStep, ...]
    tuples: tuple[ExperienceTuple, ...] = Field(description="Kept, in the order they were earned.")
    stopped: str = Field(default="", description="Why the walk ended early, '' when it did not.")


def rewind(
    operator: Operator,
    evaluator: EvaluatesCandidates,
    proposer: Proposer,
    bank: Bank,
    settings: RewindSettings,
    *,
    start: Candidate | None = None,
    commit: str = "",
    on_step: Callable[[RewindStep], None] = lambda step: None,
) -> RewindResult:
    """Walk down from `start` (the operator as it stands when None) and bank what was learnt.

    A tuple is stored as soon as it is earned, so a killed walk loses nothing it has measured.
    """
    first = evaluator.evaluate(start or Candidate(), 0)
    tried: list[RewindStep] = []
    kept: list[ExperienceTuple] = []
    stopped = ""
    try:
        _walk(operator, evaluator, proposer, bank, settings, commit, on_step, first, tried, kept)
    except ModelUnavailable as problem:
        stopped = str(problem)
    return RewindResult(
        operator=operator.name, start=first, steps=tuple(tried), tuples=tuple(kept), stopped=stopped
    )


def _walk(
    operator: Operator,
    evaluator: EvaluatesCandidates,
    proposer: Proposer,
    bank: Bank,
    settings: RewindSettings,
    commit: str,
    on_step: Callable[[RewindStep], None],
    best: Trial,
    tried: list[RewindStep],
    kept: list[ExperienceTuple],
) -> None:
    """Walk down from `best`, noting in `tried` and `kept` what came of each removal."""
    spent = 1
    seen = {best.candidate.hash}
    removed: list[str] = []
    for step in range(settings.steps):
        if best.outcome is not Outcome.OK:
            break
        worst: tuple[float, Rewound, Trial] | None = None
        for way in proposer.rewind(operator, best.candidate.files, removed):
            if spent >= settings.budget or way.candidate.hash in seen:
                continue
            seen.add(way.candidate.hash)
            trial = evaluator.evaluate(way.candidate, spent)
            spent += 1
            slowdown = _slowdown(trial, best)
            entry = RewindStep(
                step=step, title=way.title, rule_id=way.rule_id, trial=trial, slowdown=slowdown
            )
            if slowdown is not None and slowdown > 1.0 + settings.noise_floor:
                earned = _tuple(operator, proposer, way, trial, best, settings, commit)
                new = bank.add(earned)
                kept.append(earned)
                entry = entry.model_copy(update={"tuple_id": earned.id, "known": not new})
                if worst is None or slowdown > worst[0]:
                    worst = (slowdown, way, trial)
            tried.append(entry)
            on_step(entry)
        if worst is None or spent >= settings.budget:
            break
        removed.append(worst[1].rule_id)
        best = worst[2]


def _slowdown(slow: Trial, fast: Trial) -> float | None:
    if slow.measurement is None or fast.measurement is None:
        return None
    return slow.measurement.score_us / fast.measurement.score_us


def _tuple(
    operator: Operator,
    proposer: Proposer,
    way: Rewound,
    slow: Trial,
    fast: Trial,
    settings: RewindSettings,
    commit: str,
) -> ExperienceTuple:
    diagnosis = proposer.diagnose(operator, slow)
    lesson = Lesson(
        title=way.title,
        description=way.description,
        bottleneck=diagnosis.bottleneck,
        classes=_union(way.classes, diagnosis.classes),
        rule_id=way.rule_id,
    )
    lesson = proposer.distill(operator, slow, fast, lesson)
    simulated = slow.measurement is not None and slow.measurement.fingerprint.simulated
    return distill(
        operator,
        slow,
        fast,
        lesson,
        direction="rewind",
        noise_floor=settings.noise_floor,
        test="exact: the simulator is deterministic" if simulated else "medians",
        commit=commit,
    )


def _union(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))
