from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.edges import EdgesGate
from ci.judge.varied.lengths import OwnThresholds
from ci.judge.varied_sweep import LEAST_VARIED
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
    assert failure.refusal.place.case == "fp32_16x4096 with infinite"


@pytest.mark.long
def test_all_candidates_are_held_to_the_same_cases(
    evaluator: Evaluator, unmodified: Subject
) -> None:
    assert EdgesGate().check(unmodified) is None
    harmless = evaluator.subject(changed("2.0f", "2.00f"))
    assert EdgesGate().check(harmless) is None
    own, other = unmodified.work.sweeps["confirm"], harmless.work.sweeps["confirm"]
    assert sum(own.counts.values()) >= LEAST_VARIED
    shared = [before.case for kind, before in own.cases if kind != OwnThresholds.name]
    tried = [before.case for _, before in other.cases]
    assert all(case in tried for case in shared)
    assert own.untaken == other.untaken


@pytest.mark.long
def test_numbers_that_no_case_can_have_crowd_out_nothing(evaluator: Evaluator) -> None:
    numbers = ", ".join(str((1 << 30) + n) for n in range(12))
    crowded = evaluator.subject(changed(ADD, f"{ADD} constexpr int64_t sizes[] = {{{numbers}}};"))
    assert EdgesGate().check(crowded) is None
    assert sum(crowded.work.sweeps["confirm"].counts.values()) >= LEAST_VARIED
