"""What every gate must do: subclass `GateContract`, with the gate and two fixtures.

`unmodified` is the original operator, as the gate is asked about it; `faulty` is a candidate
that the gates before this one let pass, and this one must not.
"""

from __future__ import annotations

from typing import ClassVar

from ci.judge.gate_subject import Subject
from ci.judge.gates import GATES
from ci.judge.gates.base import Gate
from ci.model.trial import Outcome


class GateContract:
    """The behaviour that the evaluator relies on."""

    gate: ClassVar[Gate]

    def test_it_stands_once_on_the_list(self) -> None:
        """Else nobody asks it, or its name means two things."""
        assert [gate.name for gate in GATES].count(self.gate.name) == 1

    def test_the_unmodified_operator_passes(self, unmodified: Subject) -> None:
        """What is in the repository is the measure of everything."""
        assert self.gate.check(unmodified) is None

    def test_a_refusal_says_why_and_is_the_same_again(self, faulty: Subject) -> None:
        """A report shows nothing but this, and a resumed run must come to the same verdicts."""
        failure, again = self.gate.check(faulty), self.gate.check(faulty)
        assert failure is not None and again is not None
        assert failure.outcome is not Outcome.OK
        assert (failure.outcome is Outcome.UNFIT) == (self.gate.phase == "admit")
        assert failure.refusal.gate == self.gate.name
        assert len(failure.refusal.sentence.split()) > 2
        assert failure.refusal == again.refusal
