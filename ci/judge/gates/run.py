"""Run: the tiling answers and the kernel ends, in time, without a race or a memory error, and has
done something."""

from __future__ import annotations

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.model.errors import TrialFailure
from ci.model.launch import wrote_nothing
from ci.model.trial import Outcome, Place
from ci.source.empty_body import wrote_nothing_because


class RunGate(Gate):
    """Whatever failed in a launch that was built and linked.

    A case that was made up may ask for nothing; the workload's own do not.
    """

    name = "run"
    phase = "launch"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses with the backend's own outcome and words, and a launch that wrote nothing."""
        found = subject.failure
        if found is not None:
            return self.signed(found)
        if subject.case in subject.standard.workload.cases and did_nothing(subject):
            place = Place(case=subject.case.name, seed=subject.seed)
            texts = {**subject.standard.operator.texts(), **subject.candidate.files}
            return self.refuse(Outcome.MEMORY_ERROR, wrote_nothing_because(texts), place=place)
        return None


def did_nothing(subject: Subject) -> bool:
    """Whether a launch that ended well wrote no byte of its tensors."""
    right = subject.standard.references.of(subject.case, subject.seed)
    written = subject.launched.run.pipes.tensor_write_bytes
    return wrote_nothing(written, right.inputs, right.outputs)
