"""What several folders of tests measure with: the machine, and scale_shift as it stands."""

from __future__ import annotations

import pytest

from tests.ci.simulator.machine_bench import MachineBench


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> MachineBench:
    """The machine, built once, with a folder for small kernels."""
    return MachineBench(tmp_path_factory.mktemp("machine"))
