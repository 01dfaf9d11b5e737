from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.guard import GuardGate
from ci.testing.gate import GateContract
from ci.testing.scale_shift import with_statement


class TestGuardGate(GateContract):
    gate = GuardGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        return evaluator.subject(with_statement('::system("id");'))
