"""Room: the buffers fit into the unified buffer, and there are event ids for them."""

from __future__ import annotations

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.judge.launch_record import new_warning
from ci.model.errors import InputError, TrialFailure
from ci.model.trial import MachineWarning, Outcome

SHORT = ("ub_request", "event_ids")
"""What the machine says of a buffer beyond the unified buffer, and of a ninth event id."""


class RoomGate(Gate):
    """Names what a kernel asks for in vain, where the original operator does not ask for it.

    The first instructions show it, whether the launch fails of it or not: such a candidate costs
    no evaluation.
    """

    name = "room"
    phase = "launch"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses a launch with the first buffer that there is no room for."""
        failure = subject.failure
        if failure is not None and failure.outcome is Outcome.RACE:
            return None
        shown = failure.warnings if failure is not None else subject.launched.warnings
        asked = tuple(w for w in shown if w.kind in SHORT)
        found = new_warning(asked, _before(subject)) if asked else None
        if found is None:
            return None
        place = found.place.model_copy(update={"case": subject.case.name, "seed": subject.seed})
        return self.refuse(
            failure.outcome if failure is not None else Outcome.MEMORY_ERROR,
            found.text,
            place=place,
            evidence=failure.refusal.sentence if failure is not None else found.kind,
        )


def _before(subject: Subject) -> tuple[MachineWarning, ...]:
    """What the machine says of the original operator's launch; () where that fails, too."""
    try:
        return subject.standard.baseline.at(subject.case, subject.seed).warnings
    except (TrialFailure, InputError):
        return ()
