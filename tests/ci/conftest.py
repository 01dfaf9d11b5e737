"""What several folders of tests measure with: the machine, and scale_shift as it stands."""

from __future__ import annotations

import pytest

from tests.ci.simulator.ascendc_harness import AscendCHarness
from tests.ci.simulator.machine_harness import MachineHarness


@pytest.fixture(scope="session")
def harness(tmp_path_factory: pytest.TempPathFactory) -> MachineHarness:
    """The machine, built once, with a folder for small kernels."""
    return MachineHarness(tmp_path_factory.mktemp("machine"))


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> AscendCHarness:
    """The same for kernels in AscendC."""
    return AscendCHarness(tmp_path_factory.mktemp("ascendc"))
