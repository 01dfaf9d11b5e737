"""What several folders of tests measure with: the machine, and scale_shift as it stands."""

from __future__ import annotations

import pytest

from ci.model.trial import Trial
from ci.testing.proposer import measured
from tests.ci.simulator.machine_bench import MachineBench


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> MachineBench:
    """The machine, built once, with a folder for small kernels."""
    return MachineBench(tmp_path_factory.mktemp("machine"))


@pytest.fixture(scope="session")
def baseline() -> Trial:
    return measured()


@pytest.fixture(scope="session")
def slower() -> Trial:
    return measured(slow=True)
