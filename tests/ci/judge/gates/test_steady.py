from __future__ import annotations

import numpy as np
import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.steady import SteadyGate
from ci.testing.gate import GateContract
from ci.testing.scale_shift import WORKLOAD, with_statement

SLOW_DOWN = "for (int i = 0; i < 1500; i++) PipeBarrier<PIPE_ALL>();"


class TestSteadyGate(GateContract):
    gate = SteadyGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        """Fast only on the values that it was measured on."""
        values = evaluator.references.of(WORKLOAD.cases[0], 1).inputs[0]
        assert isinstance(values, np.ndarray)
        other = f"GetBlockIdx() == 0 && xGm_.GetValue(0) != {float(values.ravel()[0])!r}f"
        return evaluator.subject(with_statement(f"if ({other}) {{ {SLOW_DOWN} }}"))
