"""Guard: nothing in the changed sources that the rules of `rules/guards/` forbid."""

from __future__ import annotations

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.judge.guard import guard
from ci.model.errors import TrialFailure
from ci.model.trial import Outcome


class GuardGate(Gate):
    """Reads the candidate's sources before anything is made of them."""

    name = "guard"
    phase = "sources"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses what `ci.judge.guard` finds."""
        found = guard(subject.standard.operator, subject.candidate.files)
        return self.signed(TrialFailure(Outcome.REJECTED, found)) if found else None
