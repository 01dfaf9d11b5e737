from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gates.edges import EdgesGate
from ci.judge.subject import Subject
from ci.model.trial import Outcome
from ci.testing.gate import GateContract
from ci.testing.scale_shift import changed

ADD = "Adds(out, out, 1.0f, tileLength_);"
FINITE_ONLY = changed(ADD, f"Mins(out, out, 3e38f, tileLength_); PipeBarrier<PIPE_V>(); {ADD}")


class TestEdgesGate(GateContract):
    gate = EdgesGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        return evaluator.subject(FINITE_ONLY)


def test_what_is_right_only_on_finite_numbers_is_refused(evaluator: Evaluator) -> None:
    assert evaluator.evaluate(FINITE_ONLY, 1).outcome is Outcome.OK
    failure = EdgesGate().check(evaluator.subject(FINITE_ONLY))
    assert failure and failure.outcome is Outcome.WRONG_RESULT
    assert failure.refusal.place.case == "fp32_16x4096 with NaN and infinities"


def test_what_the_operator_itself_gets_wrong_is_told_and_not_held_against_others(
    evaluator: Evaluator, unmodified: Subject
) -> None:
    assert EdgesGate().check(unmodified) is None
    harmless = evaluator.subject(changed("2.0f", "2.00f"))
    assert EdgesGate().check(harmless) is None
    assert harmless.work.edge_cases == unmodified.work.edge_cases > 0
    assert harmless.work.baseline_defects == unmodified.work.baseline_defects
