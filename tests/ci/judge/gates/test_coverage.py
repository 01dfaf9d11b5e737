from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.coverage import CoverageGate
from ci.judge.launch_record import Sweep
from ci.testing.gate import GateContract
from ci.testing.scale_shift import changed

HARMLESS = changed("2.0f", "2.00f")


class TestCoverageGate(GateContract):
    gate = CoverageGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        """All further cases cost too much."""
        subject = evaluator.subject(HARMLESS)
        subject.work.sweeps["confirm"] = Sweep(costly={"length": 40})
        return subject


def test_what_the_operator_refuses_is_no_lack_of_coverage(evaluator: Evaluator) -> None:
    subject = evaluator.subject(HARMLESS)
    subject.work.sweeps["confirm"] = Sweep(refused={"length": 40})
    assert CoverageGate().check(subject) is None


def test_a_regime_that_no_case_reaches_is_named(evaluator: Evaluator) -> None:
    subject = evaluator.subject(HARMLESS)
    subject.work.sweeps["confirm"] = Sweep(untried=("tiling key 3, all cores",))
    failure = CoverageGate().check(subject)
    assert failure and "tiling key 3, all cores" in failure.refusal.sentence


def test_reasons_for_what_is_not_varied_are_told_apart() -> None:
    found = Sweep(
        refused={"rank": 2, "empty input": 1},
        costly={"length": 3},
        defects={"empty input": "wrong_result"},
    )
    assert found.untaken == (
        "rank: the original operator rejects it, too",
        "empty input: the original operator fails on it, too",
        "length: too costly to try",
    )
