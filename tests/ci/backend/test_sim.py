"""The simulator keeps the contract of backends, and tells what else it decides."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest

from ci.backend import make_backend
from ci.backend.base import Backend
from ci.backend.sim import SimulatorBackend
from ci.model.errors import InputError, TrialFailure
from ci.model.launch import Expected
from ci.source.inputs import draw_inputs
from ci.testing.backend import BROKEN, CASE, RACING, BackendContract, launch
from ci.testing.scale_shift import HOST, OPERATOR, WORKLOAD

pytestmark = pytest.mark.every_level


@pytest.fixture(scope="module")
def backend() -> Backend:
    return make_backend("sim", "910B4")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the folders of launches are made."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


class TestSimulator(BackendContract):
    def test_cycles_repeat_exactly(self, backend: Backend) -> None:
        assert launch(backend, {}).pipes == launch(backend, {}).pipes

    def test_automatic_synchronisation_turns_a_race_into_a_counted_wait(
        self, backend: Backend
    ) -> None:
        synced = WORKLOAD.model_copy(update={"auto_sync": True})
        template = np.zeros(CASE.inputs[0].shape, np.float32)  # type: ignore[union-attr]
        build = backend.build(OPERATOR, RACING, synced)
        run = build.run(CASE, draw_inputs(CASE, 1), [template])
        assert run.pipes.inserted_waits > 0

    def test_another_chips_source_beside_the_kernel_does_not_choose_its_cores(
        self, backend: Backend
    ) -> None:
        """It multiplies on cube cores alone there, and the kernel includes one of the same name."""
        product = "#define ASCENDC_CUBE_ONLY\nREGIST_MATMUL_OBJ(&pipe, space, product);\n"
        kernel = OPERATOR.kernel_entry
        other = {
            "op_kernel/arch35/product.h": product,
            "op_kernel/product.h": "#pragma once\n",
            kernel: '#include "product.h"\n' + OPERATOR.texts()[kernel],
        }
        np.testing.assert_array_equal(
            launch(backend, other).outputs[0], launch(backend, {}).outputs[0]
        )

    def test_launches_that_were_announced_give_the_same_and_leave_nothing(
        self, backend: Backend, places: Path
    ) -> None:
        template = np.zeros(CASE.inputs[0].shape, np.float32)  # type: ignore[union-attr]
        drawn = [draw_inputs(CASE, seed) for seed in (1, 2, 3)]
        with backend.expecting(
            OPERATOR,
            [Expected(CASE, seed, inputs, [template]) for seed, inputs in enumerate(drawn)],
        ):
            fresh = {HOST: f"{OPERATOR.read(HOST)}\n// {places}\n"}
            build = backend.build(OPERATOR, fresh, WORKLOAD)
            runs, waiting = [], [len(list(places.glob("ascendopt-run-*/launch-*")))]
            for seed, inputs in enumerate(drawn[:2]):
                runs.append(build.run(CASE, inputs, [template], seed=seed))
                waiting.append(len(list(places.glob("ascendopt-run-*/launch-*"))))
            assert waiting == [1, 1, 1]
        assert not list(places.glob("ascendopt-run-*/launch-*"))
        for inputs, run in zip(drawn, runs, strict=False):
            alone = build.run(CASE, inputs, [template])
            assert alone.pipes == run.pipes
            np.testing.assert_array_equal(alone.outputs[0], run.outputs[0])

    def test_an_announced_launch_that_cannot_be_built_leaves_nothing(
        self, backend: Backend, places: Path
    ) -> None:
        inputs = draw_inputs(CASE, 1)
        template = np.zeros(CASE.inputs[0].shape, np.float32)  # type: ignore[union-attr]
        with (
            pytest.raises(TrialFailure, match="no_such_name"),
            backend.expecting(OPERATOR, [Expected(CASE, 1, inputs, [template])]),
        ):
            build = backend.build(OPERATOR, BROKEN, WORKLOAD)
            build.run(CASE, inputs, [template], seed=1)
        assert not list(places.glob("ascendopt-run-*/launch-*"))

    def test_a_faster_chip_is_faster(self, backend: Backend) -> None:
        b1 = SimulatorBackend("910B1")
        assert b1.fingerprint() != backend.fingerprint()
        assert launch(b1, {}).samples_us < launch(backend, {}).samples_us


def test_unknown_backends_are_named_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="sim, cann, cann-direct, camodel, replay"):
        make_backend("gpu", "910B4")
