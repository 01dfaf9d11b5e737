from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.build import BuildGate
from ci.model.trial import Place
from ci.testing.gate import GateContract
from ci.testing.scale_shift import HOST, changed, line_of, with_statement


class TestBuildGate(GateContract):
    gate = BuildGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        return evaluator.subject(with_statement("LocalTensor<float> q = nowhere;"))


def test_a_host_side_that_does_not_compile_is_this_gates_too(evaluator: Evaluator) -> None:
    candidate = changed("SetBlockDim(BLOCK_DIM)", "SetBlockDim(NO_SUCH_NAME)", HOST)
    failure = BuildGate().check(evaluator.subject(candidate))
    assert failure
    assert failure.refusal.place == Place(file=HOST, line=line_of(candidate, "NO_SUCH", HOST))


def test_how_a_launch_failed_is_none_of_its_business(evaluator: Evaluator) -> None:
    candidate = changed("            PipeBarrier<PIPE_V>();\n", "")
    assert BuildGate().check(evaluator.subject(candidate)) is None
