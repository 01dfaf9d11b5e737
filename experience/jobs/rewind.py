"""Rewind: remove the optimizations of a strong kernel one at a time, keep what hurts (paper §3).

First a survey: each way to remove one optimization from K(0) is evaluated alone. Then the walk
K(0) → K(1) → … → K(T): the removals that hurt are made one on top of the other, the mildest first,
so that a heavy one does not hide the rest. Every step is validated on the backend and kept only
when it slows the operator significantly; its tuple leads from K(t+1) back to K(t) and holds both
neighbours' measurements. Removals that break or change nothing teach nothing and are dropped.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from pydantic import Field

from ci.judge.base import Judge
from ci.model.errors import ModelUnavailable
from ci.model.experience import RewindSettings, RewindStep
from ci.model.frozen import Frozen
from ci.model.operator import Operator
from ci.model.trial import Candidate, Outcome, Trial
from ci.proposer.base import Proposer, Rewound
from experience.bank.bank import Bank
from experience.bank.distill import Judgement, Lesson, Provenance, Unfitting, distill, judge
from experience.bank.tuple import ExperienceTuple

WALK_SHARE = 4
"""At most a quarter of the budget is kept for the walk: the survey finds most lessons."""


class RewindResult(Frozen):
    """A walk down from a strong kernel."""

    operator: str
    start: Trial
    steps: tuple[RewindStep, ...]
    tuples: tuple[ExperienceTuple, ...] = Field(description="Kept, in the order they were earned.")
    end: Trial = Field(description="K(T), the weakest kernel of the walk.")
    stopped: str = Field(default="", description="Why the walk ended early, '' when it did not.")


def rewind(
    operator: Operator,
    evaluator: Judge,
    proposer: Proposer,
    bank: Bank,
    settings: RewindSettings,
    *,
    start: Candidate | None = None,
    commit: str = "",
    on_step: Callable[[RewindStep], None] = lambda step: None,
) -> RewindResult:
    """Walk down from `start` (the original operator when None) and bank what was learnt.

    A tuple is stored as soon as it is earned, so a killed walk loses nothing it has measured.
    """
    first = evaluator.evaluate(start or Candidate(), 0)
    walk = _Walk(operator, evaluator, proposer, bank, settings, commit, on_step, first)
    stopped = ""
    try:
        if first.outcome is Outcome.OK:
            walk.descend(walk.survey(first))
    except ModelUnavailable as problem:
        stopped = str(problem)
    return RewindResult(
        operator=operator.name,
        start=first,
        steps=tuple(walk.tried),
        tuples=tuple(walk.kept),
        end=walk.end,
        stopped=stopped,
    )


@dataclass
class _Walk:
    operator: Operator
    evaluator: Judge
    proposer: Proposer
    bank: Bank
    settings: RewindSettings
    commit: str
    on_step: Callable[[RewindStep], None]
    end: Trial
    spent: int = 1
    tried: list[RewindStep] = field(default_factory=list)
    kept: list[ExperienceTuple] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._start = self.end.candidate.hash
        self._seen = {self._start}
        self._surveyed: set[str] = set()

    def survey(self, start: Trial) -> list[tuple[float, Rewound, Trial]]:
        """Every removal alone, motif by motif in turns; those that hurt, the mildest first."""
        by_motif: dict[str, list[Rewound]] = {}
        for way in self.proposer.rewind(self.operator, start.candidate.files, []):
            by_motif.setdefault(way.motif_id, []).append(way)
        self._surveyed.update(by_motif)
        rows = [ways[: self.settings.per_motif] for ways in by_motif.values()]
        hurting = []
        # for the walk; it begins with a removal that the survey has measured
        kept_back = min(self.settings.steps - 1, self.settings.budget // WALK_SHARE)
        self._begin([way for column in zip_longest(*rows) for way in column if way is not None])
        for column in zip_longest(*rows):
            for way in column:
                if way is None or way.candidate.hash in self._seen:
                    continue
                if self.spent + kept_back >= self.settings.budget:
                    break
                trial, found = self._try(way, start, 0)
                if found is not None and found.significant:
                    hurting.append((found.slowdown, way, trial))
        return sorted(hurting, key=lambda h: (h[0], h[1].motif_id))

    def _begin(self, ways: Sequence[Rewound]) -> None:
        """Let the workers of a pool try removals that the budget may be spent on."""
        for way in ways[: self.settings.budget]:
            self.evaluator.begin(way.candidate)

    def descend(self, hurting: Sequence[tuple[float, Rewound, Trial]]) -> None:
        """K(0) → K(1) → …: one removal of each motif on top of those before.

        Behind the surveyed ones come removals that only the weaker kernel made visible: a model
        names them one at a time, rules have none.
        """
        removed: list[str] = []
        for _, way, trial in hurting:
            if way.motif_id in removed or len(removed) >= self.settings.steps:
                continue
            if not removed:
                self.end = trial
                removed.append(way.motif_id)
            elif self._deeper(way.motif_id, removed):
                removed.append(way.motif_id)
        while removed and len(removed) < self.settings.steps and (new := self._deeper("", removed)):
            removed.append(new)

    def _deeper(self, motif_id: str, removed: list[str]) -> str:
        """Remove one more motif from K(t): this one, or for '' one not surveyed yet.

        The id of what was removed when that held, '' otherwise.
        """
        if self.spent >= self.settings.budget:
            return ""
        for way in self.proposer.rewind(self.operator, self.end.candidate.files, removed):
            wanted = way.motif_id == motif_id if motif_id else way.motif_id not in self._surveyed
            if not wanted or way.candidate.hash in self._seen:
                continue
            trial, found = self._try(way, self.end, len(removed))
            if found is not None and found.significant:
                self.end = trial
                return way.motif_id
            return ""
        return ""

    def _try(self, way: Rewound, fast: Trial, step: int) -> tuple[Trial, Judgement | None]:
        """Evaluate one removal from `fast`, bank it when it hurts, and say so."""
        self._seen.add(way.candidate.hash)
        trial = self.evaluator.evaluate(way.candidate, self.spent)
        self.spent += 1
        found = judge(trial, fast, self.settings.noise_floor)
        entry = RewindStep(
            step=step,
            title=way.title,
            motif_id=way.motif_id,
            trial=trial,
            slowdown=found.slowdown if found else None,
        )
        if found is not None and found.significant:
            with contextlib.suppress(Unfitting):  # of words that are not about their diff
                earned = self._tuple(way, trial, fast, found, step)
                new = self.bank.add(earned)
                self.kept.append(earned)
                entry = entry.model_copy(update={"tuple_id": earned.id, "known": not new})
        self.tried.append(entry)
        self.on_step(entry)
        return trial, found

    def _tuple(
        self, way: Rewound, slow: Trial, fast: Trial, found: Judgement, step: int
    ) -> ExperienceTuple:
        diagnosis = self.proposer.diagnose(self.operator, slow)
        lesson = Lesson(
            title=way.title,
            description=way.description,
            bottleneck=diagnosis.bottleneck,
            classes=tuple(dict.fromkeys((*way.classes, *diagnosis.classes))),
            motif_id=way.motif_id,
        )
        lesson = self.proposer.distill(self.operator, slow, fast, lesson)
        return distill(
            self.operator,
            slow,
            fast,
            lesson,
            direction="rewind",
            noise_floor=self.settings.noise_floor,
            test=found.test,
            p_value=found.p_value,
            source=Provenance(
                commit=self.commit,
                origin=f"bank rewind by {self.proposer.name}",
                trajectory=f"{self.operator.name}-{self._start[:8]}",
                step=step,
            ),
        )
