"""Siblings: the other operators that take a changed shared source stay right and as fast."""

from __future__ import annotations

from typing import ClassVar

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate, Phase
from ci.model.errors import TrialFailure
from ci.model.trial import Outcome


class SiblingsGate(Gate):
    """Judges all of them on their own workloads, and keeps how each fares for the report."""

    name = "siblings"
    phase: ClassVar[Phase] = "confirm"
    most: ClassVar[int | None] = None
    """Siblings that are judged, the same ones every time; None for as many as the settings say."""

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses the first one that fails or becomes slower."""
        standard = subject.standard
        changed = standard.changed(subject.candidate.files)
        try:
            subject.work.siblings = standard.siblings.judged(changed, self.most)
        except TrialFailure as failure:
            outcome = Outcome.UNFIT if self.phase == "admit" else failure.outcome
            return self.signed(TrialFailure(outcome, failure.refusal))
        return None


class NearSiblingsGate(SiblingsGate):
    """A few of them: each costs a launch for every candidate that would be inherited."""

    name = "near_siblings"
    phase = "admit"
    most = 4
