"""A recording answers as the recorded backend did, and says what it does not hold."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from ci.backend import make_backend
from ci.backend.base import Backend
from ci.backend.replay import RecordingBackend, ReplayBackend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import EvaluationSettings
from ci.model.ensemble import Ensemble, ensemble
from ci.model.errors import EnvironmentProblem, InputError, TrialFailure
from ci.model.trial import Candidate, Outcome
from ci.testing.backend import PROGRAMS, BackendContract, launch
from ci.testing.scale_shift import OPERATOR, WORKLOAD, changed


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that the contract asks of a backend, recorded from the simulator."""
    file = tmp_path_factory.mktemp("replay") / "recording.jsonl"
    recorder = RecordingBackend(make_backend("sim", "910B4"), file)
    for files in PROGRAMS:
        for seed in (1, 2):
            with suppress(TrialFailure):
                launch(recorder, files, seed)
    launch(recorder, {}, ensemble=Ensemble(conditions=("cold", "warm")))
    return file


@pytest.fixture(scope="module")
def backend(recording: Path) -> Backend:
    return make_backend("replay", "910B4", recording=recording)


class TestReplay(BackendContract):
    pass


def test_an_evaluator_gets_the_recorded_figures(recording: Path) -> None:
    real = Evaluator(OPERATOR, WORKLOAD, make_backend("sim", "910B4")).evaluate(Candidate(), 0)
    played = Evaluator(OPERATOR, WORKLOAD, ReplayBackend(recording)).evaluate(Candidate(), 0)
    assert played.outcome is Outcome.OK
    assert real.measurement and played.measurement
    assert played.measurement.cases == real.measurement.cases
    assert played.measurement.fingerprint.backend == "replay"


def test_the_times_of_an_ensemble_are_recorded_whatever_is_launched_after(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    wide = EvaluationSettings(ensemble=ensemble("both", "memory", ranges=False))
    recorder = RecordingBackend(make_backend("sim", "910B4"), file)
    real = Evaluator(OPERATOR, WORKLOAD, recorder, settings=wide).members_us(Candidate())
    Evaluator(OPERATOR, WORKLOAD, recorder).evaluate(Candidate(), 0)
    played = Evaluator(OPERATOR, WORKLOAD, ReplayBackend(file), settings=wide)
    assert played.members_us(Candidate()) == real
    assert all([*members] == ["cold", "warm code, inputs in memory"] for members in real.values())


def test_what_was_not_recorded_is_said(recording: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="no run of this candidate"):
        launch(ReplayBackend(recording), changed("2.0f", "5.0f").files)


@pytest.mark.parametrize("text", ["not json\n", '{"kind": "row"}\n', "", "[1]\n"])
def test_a_file_that_is_no_recording_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "recording.jsonl"
    file.write_text(text)
    with pytest.raises(InputError, match=r"recording\.jsonl"):
        ReplayBackend(file)


def test_a_missing_recording_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        ReplayBackend(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="needs the file"):
        make_backend("replay", "910B4")
