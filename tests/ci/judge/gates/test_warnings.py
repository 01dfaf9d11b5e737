from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gates.warnings import WarningsGate
from ci.judge.launched import new_warning
from ci.judge.subject import Subject
from ci.model.trial import Candidate, MachineWarning, Outcome, Place, Trial
from ci.testing.gate import GateContract


def warning(kind: str = "ub_request", subject: str = "a", line: int = 7) -> MachineWarning:
    place = Place(case="one", file="op_kernel/a.cpp", line=line)
    return MachineWarning(kind=kind, subject=subject, place=place, text=f"Of line {line}.")


def trial(*warnings: MachineWarning) -> Trial:
    return Trial(number=1, candidate=Candidate(), outcome=Outcome.OK, warnings=warnings)


class TestWarningsGate(GateContract):
    gate = WarningsGate()

    @pytest.fixture
    def unmodified(self, evaluator: Evaluator) -> Subject:
        known = trial(warning())
        return evaluator.subject(Candidate()).measured(known, known, known)

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        known = trial(warning())
        new = trial(warning(), warning("padding", "copy_ubuf_to_gm"))
        return evaluator.subject(Candidate()).measured(new, known, known)


def test_a_warning_is_not_new_because_its_line_moved_or_its_figures_changed() -> None:
    assert new_warning([warning(line=9)], [warning(line=7)]) is None


@pytest.mark.parametrize("other", [warning("padding"), warning(subject="b")])
def test_another_kind_or_another_buffer_is_new(other: MachineWarning) -> None:
    assert new_warning([warning(), other], [warning()]) == other
