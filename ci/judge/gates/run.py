"""Run: the tiling answers and the kernel ends, in time and without a race or a memory error."""

from __future__ import annotations

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.model.errors import TrialFailure


class RunGate(Gate):
    """Whatever failed in a launch that was built and linked."""

    name = "run"
    phase = "launch"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses with the backend's own outcome and words."""
        found = subject.failure
        return self.signed(found) if found else None
