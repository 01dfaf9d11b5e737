"""Warnings: the machine warns of nothing that it does not warn of in the unmodified operator."""

from __future__ import annotations

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.judge.launch_record import new_warning
from ci.model.errors import TrialFailure
from ci.model.trial import Outcome

OF_THE_KERNEL = ("event_reused", "own_source", "absent_pipe", "state")
"""What a kernel does wrong whatever its tiling: where a candidate leaves it alone, other tiles show
what was there before."""


class WarningsGate(Gate):
    """Such a candidate passed, but asks for more UB than there is or writes into padding."""

    name = "warnings"
    phase = "admit"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses the first warning of a kind that is new."""
        assert subject.trial and subject.before
        shown = subject.trial.warnings
        if not any(file.startswith("op_kernel/") for file in subject.trial.candidate.files):
            shown = tuple(w for w in shown if w.kind not in OF_THE_KERNEL)
        found = new_warning(shown, subject.before.warnings)
        if found is None:
            return None
        return self.refuse(Outcome.UNFIT, found.text, place=found.place, evidence=found.kind)
