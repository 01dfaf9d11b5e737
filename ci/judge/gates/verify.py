"""Verify: every output is the right one within its tolerance."""

from __future__ import annotations

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.model.errors import TrialFailure
from ci.model.trial import Outcome, Place


class VerifyGate(Gate):
    """Compares with the golden function, or with the unmodified operator where there is none."""

    name = "verify"
    phase = "launch"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses outputs that differ, with the worst elements."""
        found = subject.launched.compared
        if found.agrees:
            return None
        place = Place(case=subject.case.name, seed=subject.seed)
        return self.refuse(Outcome.WRONG_RESULT, found.message, place=place, evidence=found.details)
