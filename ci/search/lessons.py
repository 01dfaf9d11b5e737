"""Lessons of a finished search: rewrites that helped, and those that did not, as tuples.

A step that was significantly faster than its parent becomes a forward tuple. One that was slower,
made no difference or failed becomes a negative, inverted: its diff leads from the rewrite back to
the sources as they were, so that its fast side is fast as everywhere in the bank.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ci.judge.gates.coverage import CoverageGate
from ci.model.diagnosis import Diagnosis
from ci.model.errors import ModelUnavailable
from ci.model.operator import Operator
from ci.model.result import Result
from ci.model.trial import Candidate, Outcome, Trial
from ci.proposer.base import Proposer
from ci.proposer.rules.diagnosing import diagnose_by_rules
from ci.proposer.rules.mutation import SEVERAL
from ci.search.run import ENSEMBLE
from ci.source.source_diff import git_diff
from ci.tiling.knob_words import move_title
from experience.bank.distill import Judgement, Lesson, Provenance, Unfitting, distill, judge
from experience.bank.patching import Misfit, undo
from experience.bank.tuple import Direction, ExperienceTuple
from rules.load import load_motifs

STAGES: Final = ("tiling", "kernel")
NOISE_FLOOR: Final = 0.01
"""Relative difference below which a rewrite made none; the search's own least step."""


def lessons(
    operator: Operator,
    trials: Sequence[Trial],
    proposer: Proposer,
    source: Provenance,
    base: dict[str, str] | None = None,
) -> list[ExperienceTuple]:
    """The tuples of the kernel and tiling steps among the trials whose parent was measured.

    A tiling step that moved several numbers at once teaches nothing: which did it is not known.

    `base` are the operator's texts before the run, when it has changed since.
    """
    by_hash = {t.candidate.hash: t for t in reversed(trials) if t.measurement is not None}
    teacher = _Teacher(operator, proposer, source, base)
    found = []
    for trial in trials:
        parent = by_hash.get(trial.candidate.parent)
        if trial.candidate.stage not in STAGES or trial.cached or parent is None:
            continue
        if trial.candidate.motif_ids == (SEVERAL,):
            continue
        with contextlib.suppress(Unfitting):  # of words that are not about their diff
            earned = teacher.lesson_of(parent, trial)
            if earned is not None:
                found.append(earned)
    return found


def from_result(
    result: Result, operator: Operator, proposer: Proposer, *, origin: str = ""
) -> list[ExperienceTuple]:
    """The lessons of a stored run, for example of one whose merge request was merged.

    The operator may hold the result already: its earlier sources are then had by taking the
    result's diff back. Raises `Misfit` when they cannot be had.
    """
    base = operator.texts()
    if not _same_sources(result, operator):
        names = {operator.repository_path(p): p for p in base}
        restored = undo(result.diff, {place: base[p] for place, p in names.items()})
        base = {names[place]: t for place, t in restored.items()}
        if git_diff(base, base | result.best.candidate.files) == "":
            raise Misfit("the operator's sources are neither those before nor those after the run")
    source = Provenance(commit=result.base_commit, origin=origin or f"run {result.run}")
    return lessons(operator, result.trials, proposer, source, base)


def _same_sources(result: Result, operator: Operator) -> bool:
    return all(
        p in operator.sources and hashlib.sha256(operator.raw(p)).hexdigest() == digest
        for p, digest in result.base_hashes.items()
    )


NO_FAULT: Final = (ENSEMBLE, CoverageGate.name)
"""Gates whose refusals say neither that a rewrite helps nor that it is wrong."""


@dataclass(frozen=True)
class _Teacher:
    """Makes tuples of the rewrites of one run."""

    operator: Operator
    proposer: Proposer
    source: Provenance
    base: dict[str, str] | None

    def lesson_of(self, before: Trial, after: Trial) -> ExperienceTuple | None:
        """The tuple of one rewrite; None when it teaches nothing that can be distinguished.

        A rewrite of several motifs at once teaches only when it helps: which of them was at fault
        is not known. What a guard refused teaches nothing, nor does a number of the tiling that
        made no difference: these shapes do not reach its limit. What is not fit to be inherited
        counts as failed, however fast; a gain in some start states alone teaches nothing, nor does
        one of which too little could be tried.
        """
        if after.refusal is not None and after.refusal.gate in NO_FAULT:
            return None
        if after.outcome is Outcome.UNFIT:
            after = after.model_copy(update={"measurement": None})
        elif after.outcome is Outcome.REJECTED:
            return None
        faster = judge(before, after, NOISE_FLOOR)
        if faster is not None and faster.significant:
            return self._helped(before, after, faster)
        if len(after.candidate.motif_ids) != 1:
            return None
        slower = judge(after, before, NOISE_FLOOR)
        if after.candidate.stage == "tiling" and slower is not None and not slower.significant:
            return None
        return self._failed(before, after)

    def _helped(self, slow: Trial, fast: Trial, found: Judgement) -> ExperienceTuple:
        why = f"On {self.operator.name} this rewrite helped: {fast.candidate.rationale}"
        diagnosis = diagnose_by_rules(self.operator, slow)
        if fast.candidate.stage == "kernel":
            with contextlib.suppress(ModelUnavailable):
                diagnosis = self.proposer.diagnose(self.operator, slow)
        lesson = _draft(fast.candidate, diagnosis, why)
        if not any(map(move_title, fast.candidate.motif_ids)):  # whose words are known
            with contextlib.suppress(ModelUnavailable):
                lesson = self.proposer.distill(self.operator, slow, fast, lesson)
        return self._tuple(slow, fast, lesson, "forward", found)

    def _failed(self, kept: Trial, rewrite: Trial) -> ExperienceTuple:
        """Inverted, and by rules: a negative is not worth a model's tokens."""
        found = judge(rewrite, kept, NOISE_FLOOR)
        how = "failed" if rewrite.measurement is None else "did not help"
        if found is None:
            end = rewrite.outcome.value.replace("_", " ")
        else:
            end = f"{found.slowdown:.3f} times the time"
        why = f"On {self.operator.name} this rewrite {how}: {end}."
        lesson = _draft(rewrite.candidate, diagnose_by_rules(self.operator, kept), why)
        lesson = lesson.model_copy(update={"title": f"No gain: {lesson.title}"})
        return self._tuple(rewrite, kept, lesson, "negative", found)

    def _tuple(
        self,
        slow: Trial,
        fast: Trial,
        lesson: Lesson,
        direction: Direction,
        found: Judgement | None,
    ) -> ExperienceTuple:
        return distill(
            self.operator,
            slow,
            fast,
            lesson,
            direction=direction,
            noise_floor=NOISE_FLOOR,
            test=found.test if found else "the rewrite did not pass",
            p_value=found.p_value if found else None,
            source=self.source,
            base=self.base,
        )


def _draft(candidate: Candidate, diagnosis: Diagnosis, why: str) -> Lesson:
    """A lesson named by its motifs; by its reason when a model made it without one."""
    titles = {m.id: m.title for m in load_motifs()}
    named = [t for m in candidate.motif_ids if (t := titles.get(m) or move_title(m))]
    return Lesson(
        title="; ".join(named) or candidate.rationale or "A rewrite",
        description=why,
        bottleneck=diagnosis.bottleneck,
        classes=diagnosis.classes,
        motif_id=candidate.motif_ids[0] if len(candidate.motif_ids) == 1 else "",
    )
