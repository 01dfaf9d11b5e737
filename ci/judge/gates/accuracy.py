"""Accuracy: the candidate errs no more than the unmodified operator, on large and small outputs."""

from __future__ import annotations

from ci.judge.accuracy import Usual, less_accurate, usual
from ci.judge.gates.base import Gate
from ci.judge.launched import Launched
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
        for index, (now, then) in enumerate(
            zip(subject.launched.accuracy, before.accuracy, strict=True)
        ):
            found = less_accurate(now, then, Usual()) and less_accurate(
                now, then, _usual(subject, index)
            )
            if found:
                return self.refuse(
                    Outcome.WRONG_RESULT,
                    f"{found}.",
                    place=Place(case=subject.case.name, seed=subject.seed),
                    evidence="less accurate",
                )
        return None


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
