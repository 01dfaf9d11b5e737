"""Link: what was compiled asks the linker and the machine for nothing that they do not offer."""

from __future__ import annotations

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.model.errors import TrialFailure


class LinkGate(Gate):
    """The toolchain and `ci.simulator.symbols` find it and name this gate."""

    name = "link"
    phase = "launch"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses undefined and foreign symbols."""
        found = subject.failure
        return found if found and found.refusal.gate == self.name else None
