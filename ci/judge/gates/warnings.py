"""Warnings: the machine warns of nothing that it does not warn of in the unmodified operator."""

from __future__ import annotations

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.judge.launch_record import new_warning
from ci.model.errors import TrialFailure
from ci.model.trial import Outcome


class WarningsGate(Gate):
    """Such a candidate passed, but asks for more UB than there is or writes into padding."""

    name = "warnings"
    phase = "admit"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses the first warning of a kind that is new."""
        assert subject.trial and subject.before
        found = new_warning(subject.trial.warnings, subject.before.warnings)
        if found is None:
            return None
        return self.refuse(Outcome.UNFIT, found.text, place=found.place, evidence=found.kind)
