"""Accuracy: the candidate errs no more than the unmodified operator, on large and small outputs."""

from __future__ import annotations

from ci.judge.accuracy import Usual, less_accurate, usual
from ci.judge.gates.base import Gate
from ci.judge.launched import Launched, launch_once
from ci.judge.subject import Subject
from ci.model.errors import InputError, TrialFailure
from ci.model.trial import Outcome, Place


class AccuracyGate(Gate):
    """Holds the errors of each launch against those of the unmodified operator on the same inputs.

    The golden function tells both. Without one the unmodified operator's outputs are all there is,
    and the tolerance alone decides.
    """

    name = "accuracy"
    phase = "launch"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses errors beyond the factor of `ci.judge.accuracy`."""
        standard = subject.standard
        if standard.references.kind != "golden" or not standard.changed(subject.candidate.files):
            return None
        before = _of_baseline(subject)
        if before is None:
            return None
        found = _loss(subject, subject.launched, before) and _loss(
            subject, _forgiving(subject), before
        )
        if not found:
            return None
        return self.refuse(
            Outcome.WRONG_RESULT,
            f"{found}.",
            place=Place(case=subject.case.name, seed=subject.seed),
            evidence="less accurate",
        )


def _loss(subject: Subject, launched: Launched, before: Launched) -> str:
    """What any output loses against the unmodified operator; '' when none does."""
    for index, (now, then) in enumerate(zip(launched.accuracy, before.accuracy, strict=True)):
        found = less_accurate(now, then, Usual()) and less_accurate(
            now, then, _usual(subject, index)
        )
        if found:
            return found
    return ""


def _forgiving(subject: Subject) -> Launched:
    """The launch once more, which is worth it only for one that would be refused otherwise."""
    references = subject.standard.references
    try:
        return launch_once(subject.build(), references, subject.case, subject.seed, forgiving=True)
    except (TrialFailure, InputError):
        return subject.launched


def _of_baseline(subject: Subject) -> Launched | None:
    try:
        return subject.standard.baseline.at(subject.case, subject.seed)
    except (TrialFailure, InputError):
        return None


def _usual(subject: Subject, index: int) -> Usual:
    """What the baseline errs in output `index` in the launches of the workload."""
    workload = subject.standard.workload
    places = [subject.at(case, seed) for case in workload.cases for seed in workload.seeds]
    found = [before.accuracy for one in places if (before := _of_baseline(one))]
    return usual(accuracy[index] for accuracy in found if index < len(accuracy))
