from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.run import RunGate
from ci.model.trial import Outcome, Place
from ci.testing.gate import GateContract
from ci.testing.scale_shift import HOST, KERNEL, WORKLOAD, changed, line_of

BARRIER = "            PipeBarrier<PIPE_V>();\n"


class TestRunGate(GateContract):
    gate = RunGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        return evaluator.subject(changed(BARRIER, ""))


def test_a_race_is_told_with_the_case_the_seed_and_the_line(evaluator: Evaluator) -> None:
    candidate = changed(BARRIER, "")
    failure = RunGate().check(evaluator.subject(candidate))
    assert failure and failure.outcome is Outcome.RACE
    line = line_of(candidate, "Adds(out, out")
    case = WORKLOAD.cases[0].name
    assert failure.refusal.place == Place(case=case, seed=1, file=KERNEL, line=line)


def test_a_tiling_that_crashes_is_a_launch_that_failed(evaluator: Evaluator) -> None:
    crash = "*(volatile int *)0 = 1; context->SetBlockDim(BLOCK_DIM);"
    candidate = changed("context->SetBlockDim(BLOCK_DIM);", crash, HOST)
    failure = RunGate().check(evaluator.subject(candidate))
    assert failure and failure.outcome is Outcome.LAUNCH_ERROR
