"""The simulator keeps the contract of backends, and tells what else it decides."""

from __future__ import annotations

import numpy as np
import pytest

from ci.backend import make_backend
from ci.backend.base import Backend
from ci.backend.sim import SimulatorBackend
from ci.errors import InputError
from ci.inputs import draw_inputs
from tests.ci.backend.contract import CASE, RACING, BackendContract, launch
from tests.ci.scale_shift import OPERATOR, WORKLOAD


@pytest.fixture(scope="module")
def backend() -> Backend:
    return make_backend("sim", "910B4")


class TestSimulator(BackendContract):
    def test_cycles_repeat_exactly(self, backend: Backend) -> None:
        assert launch(backend, {}).pipes == launch(backend, {}).pipes

    def test_automatic_synchronisation_turns_a_race_into_a_counted_wait(
        self, backend: Backend
    ) -> None:
        synced = WORKLOAD.model_copy(update={"auto_sync": True})
        template = np.zeros((4, 4096), np.float32)
        build = backend.build(OPERATOR, RACING, synced)
        run = build.run(CASE, draw_inputs(CASE, 1), [template])
        assert run.pipes.inserted_waits > 0

    def test_a_faster_chip_is_faster(self, backend: Backend) -> None:
        b1 = SimulatorBackend("910B1")
        assert b1.fingerprint() != backend.fingerprint()
        assert launch(b1, {}).samples_us < launch(backend, {}).samples_us


def test_unknown_backends_are_named_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="sim, cann, replay"):
        make_backend("gpu")
