from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.verify import VerifyGate
from ci.testing.gate import GateContract
from ci.testing.scale_shift import changed


class TestVerifyGate(GateContract):
    gate = VerifyGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        return evaluator.subject(changed("Adds(out, out, 1.0f", "Adds(out, out, 1.5f"))
