"""scale_shift as it stands and slowed down, measured once on the simulator."""

from __future__ import annotations

import pytest

from ci.backend import make_backend
from ci.judge.evaluate import Evaluator
from ci.model.trial import Candidate, Trial
from tests.ci.backend.contract import SLOWER
from tests.ci.scale_shift import OPERATOR, WORKLOAD


@pytest.fixture(scope="session")
def measured() -> Evaluator:
    return Evaluator(OPERATOR, WORKLOAD, make_backend("sim", "910B4"))


@pytest.fixture(scope="session")
def baseline(measured: Evaluator) -> Trial:
    return measured.evaluate(Candidate(), 0)


@pytest.fixture(scope="session")
def slower(measured: Evaluator) -> Trial:
    return measured.evaluate(Candidate(files=SLOWER, stage="rewind"), 1)
