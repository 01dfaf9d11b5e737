"""The evaluator of the fixture operator, whose subjects the gates are asked about."""

from __future__ import annotations

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.model.trial import Candidate
from ci.testing.scale_shift import OPERATOR, WORKLOAD


@pytest.fixture(scope="session")
def evaluator() -> Evaluator:
    return Evaluator(OPERATOR, WORKLOAD, SimulatorBackend("910B4", launch_seconds=20))


@pytest.fixture
def unmodified(evaluator: Evaluator) -> Subject:
    return evaluator.subject(Candidate())
