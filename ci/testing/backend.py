"""What every backend must do: subclass `BackendContract` and provide the `backend` fixture."""

from __future__ import annotations

import numpy as np
import pytest

from ci.backend.base import Backend
from ci.model.ensemble import Ensemble
from ci.model.errors import TrialFailure
from ci.model.launch import Array, CaseRun
from ci.model.trial import Outcome
from ci.source.inputs import draw_inputs
from ci.testing.scale_shift import KERNEL, OPERATOR, WORKLOAD, changed

CASE = WORKLOAD.cases[0]
SLOWER = changed("            PipeBarrier<PIPE_V>();", "            PipeBarrier<PIPE_ALL>();").files
BROKEN = changed("2.0f", "no_such_name").files
RACING = changed("            PipeBarrier<PIPE_V>();\n", "").files
PROGRAMS: list[dict[str, str]] = [{}, SLOWER, BROKEN, RACING]
"""What a recording must hold for the contract to be played back."""


def first_input(seed: int = 1) -> Array:
    """The operator's only input, drawn from a seed."""
    drawn = draw_inputs(CASE, seed)[0]
    assert isinstance(drawn, np.ndarray)
    return drawn


def launch(
    backend: Backend, files: dict[str, str], seed: int = 1, ensemble: Ensemble | None = None
) -> CaseRun:
    """Build and run the fixture operator once."""
    template = np.zeros(CASE.inputs[0].shape, np.float32)  # type: ignore[union-attr]
    build = backend.build(OPERATOR, files, WORKLOAD)
    return build.run(CASE, draw_inputs(CASE, seed), [template], ensemble=ensemble)


class BackendContract:
    """The behaviour that the evaluator relies on."""

    finds_races = True
    """False for a device: what nothing orders mostly goes well there."""

    def test_outputs_have_the_templates_shape_and_dtype_and_are_right(
        self, backend: Backend
    ) -> None:
        output = launch(backend, {}).outputs[0]
        assert isinstance(output, np.ndarray)
        assert output.dtype == np.float32
        expected = np.asarray(first_input(), np.float32) * 2 + 1
        np.testing.assert_allclose(np.asarray(output, np.float32), expected, rtol=1e-6)

    def test_other_inputs_give_other_outputs(self, backend: Backend) -> None:
        one, two = launch(backend, {}, 1).outputs[0], launch(backend, {}, 2).outputs[0]
        assert not np.array_equal(np.asarray(one), np.asarray(two))

    def test_times_are_positive_and_come_with_a_profile(self, backend: Backend) -> None:
        run = launch(backend, {})
        assert run.samples_us and min(run.samples_us) > 0
        assert run.pipes.block_dim == 4
        assert set(run.pipes.busy_cycles) >= {"SCALAR", "VECTOR", "MTE2", "MTE3"}

    def test_members_of_an_ensemble_begin_with_the_figure_itself(self, backend: Backend) -> None:
        run = launch(backend, {}, ensemble=Ensemble(conditions=("cold", "warm")))
        again = launch(backend, {})
        assert again.members_us == {} or backend.fingerprint().backend == "replay"
        if run.members_us:  # where the backend can
            assert [*run.members_us] == ["cold", "warm"]
            assert run.members_us["cold"] == pytest.approx(run.samples_us[0], rel=1e-9)
            assert run.samples_us == again.samples_us
            assert 0 < run.members_us["warm"] < run.members_us["cold"]

    def test_a_slower_program_takes_longer(self, backend: Backend) -> None:
        fast, slow = launch(backend, {}), launch(backend, SLOWER)
        assert np.median(slow.samples_us) > np.median(fast.samples_us)

    def test_broken_code_fails_as_a_compile_error_with_its_place(self, backend: Backend) -> None:
        with pytest.raises(TrialFailure) as caught:
            launch(backend, BROKEN)
        assert caught.value.outcome is Outcome.COMPILE_ERROR
        assert caught.value.refusal.place.file == KERNEL

    def test_a_failing_launch_has_its_name_and_a_sentence(self, backend: Backend) -> None:
        if not self.finds_races:
            pytest.skip("a device does not tell races")
        with pytest.raises(TrialFailure) as caught:
            launch(backend, RACING)
        assert caught.value.outcome is Outcome.RACE
        assert caught.value.refusal.message

    def test_the_fingerprint_stays_and_names_a_device(self, backend: Backend) -> None:
        assert backend.fingerprint() == backend.fingerprint()
        assert backend.fingerprint().device
        assert backend.fingerprint().version
