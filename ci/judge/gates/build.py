"""Build: the host tiling compiles, and so does the kernel that it selects for the case."""

from __future__ import annotations

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.model.errors import TrialFailure
from ci.model.trial import Outcome


class BuildGate(Gate):
    """Which kernel is compiled is known only when a launch has asked the tiling."""

    name = "build"
    phase = "launch"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses what does not compile."""
        found = subject.failure
        if found is None or found.outcome is not Outcome.COMPILE_ERROR:
            return None
        return None if found.refusal.gate == "link" else self.signed(found)
