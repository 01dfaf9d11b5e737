"""Accuracy: the candidate errs no more than the unmodified operator, on large and small outputs."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeAlias

from ci.judge.accuracy import Accuracy, Usual, less_accurate, usual
from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.judge.launch_record import accuracy_once
from ci.model.errors import InputError, TrialFailure
from ci.model.trial import Outcome, Place

Accuracies: TypeAlias = tuple[Accuracy, ...]


class AccuracyGate(Gate):
    """Holds the errors of each launch against those of the unmodified operator on the same inputs.

    The golden function tells both. Without one the unmodified operator's outputs are all there is,
    and the tolerance alone decides.
    """

    name = "accuracy"
    phase = "launch"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses errors beyond the factor of `ci.judge.accuracy`."""
        accuracy = subject.launched.accuracy
        # None: the outputs are those of the unmodified operator, or nothing says what is right.
        if accuracy is None or not subject.standard.changed(subject.candidate.files):
            return None
        before = subject.standard.baseline.accuracy(subject.case, subject.seed)
        found = _loss(subject, accuracy, before) and _loss(
            subject, _forgiving(subject, accuracy), before
        )
        if not found:
            return None
        return self.refuse(
            Outcome.WRONG_RESULT,
            f"{found}.",
            place=Place(case=subject.case.name, seed=subject.seed),
            evidence="less accurate",
        )


def _loss(subject: Subject, accuracy: Accuracies, before: Accuracies) -> str:
    """What any output loses against the unmodified operator; '' when none does."""
    for index, (now, then) in enumerate(zip(accuracy, before, strict=True)):
        found = less_accurate(now, then, Usual()) and less_accurate(
            now, then, _usual(subject, index)
        )
        if found:
            return found
    return ""


def _forgiving(subject: Subject, accuracy: Accuracies) -> Accuracies:
    """Measure the accuracy again, which is worth it only for a launch that would be refused
    otherwise."""
    references = subject.standard.references
    try:
        return accuracy_once(
            subject.build(), references, subject.case, subject.seed, forgiving=True
        )
    except (TrialFailure, InputError):
        return accuracy


def _usual(subject: Subject, index: int) -> Usual:
    """What the unmodified operator errs in output `index` in the launches of the workload."""
    standard = subject.standard
    found = []
    for case, seed in subject.workload_on(standard.workload.seeds):
        with suppress(TrialFailure, InputError):
            found.append(standard.baseline.accuracy(case, seed))
    return usual(accuracy[index] for accuracy in found if index < len(accuracy))
