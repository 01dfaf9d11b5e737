"""What several folders of tests measure with: the machine, and scale_shift as it stands."""

from __future__ import annotations

import pytest

from ci.backend import make_backend
from ci.judge.evaluate import Evaluator
from ci.model.trial import Candidate, Trial
from tests.ci.backend.contract import SLOWER
from tests.ci.scale_shift import OPERATOR, WORKLOAD
from tests.ci.simulator.machine_bench import MachineBench


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> MachineBench:
    """The machine, built once, with a folder for small kernels."""
    return MachineBench(tmp_path_factory.mktemp("machine"))


@pytest.fixture(scope="session")
def measured() -> Evaluator:
    return Evaluator(OPERATOR, WORKLOAD, make_backend("sim", "910B4"))


@pytest.fixture(scope="session")
def baseline(measured: Evaluator) -> Trial:
    return measured.evaluate(Candidate(), 0)


@pytest.fixture(scope="session")
def slower(measured: Evaluator) -> Trial:
    return measured.evaluate(Candidate(files=SLOWER, stage="rewind"), 1)
