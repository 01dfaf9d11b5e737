"""Runs that share a file are told what the evaluator told the first of them, failures included."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.evaluation_cache import RememberedEvaluator
from ci.judge.gate_subject import EvaluationSettings, Subject
from ci.model.ensemble import ensemble
from ci.model.errors import TrialFailure
from ci.model.trial import Candidate, Fingerprint
from ci.testing.backend import RACING, SLOWER
from ci.testing.scale_shift import OPERATOR, WORKLOAD

SETTINGS = EvaluationSettings(ensemble=ensemble(ranges=False))


def evaluator() -> Evaluator:
    return Evaluator(OPERATOR, WORKLOAD, SimulatorBackend("910B4"), settings=SETTINGS)


class Absent(Evaluator):
    """Has no answer of its own: whatever is asked of it is a failure of the test."""

    def subject(self, candidate: Candidate) -> Subject:
        raise AssertionError("it was asked again")


def test_a_second_run_is_told_the_same_and_nothing_is_launched_for_it(tmp_path: Path) -> None:
    file = tmp_path / "answers.sqlite"
    first = RememberedEvaluator(evaluator(), file)
    slower, racing = Candidate(files=SLOWER), Candidate(files=RACING)
    baseline = first.evaluate(Candidate(), 0)
    program = first.program(slower)
    trial = first.evaluate(slower, 1)
    admitted = first.admit(trial, baseline, baseline)
    members = first.members_us(slower)
    assert trial.measurement is not None  # a trial is timed in all start states by its own launch
    assert {c.case: c.members_us for c in trial.measurement.cases} == members
    with pytest.raises(TrialFailure) as refused:
        first.confirm(first.evaluate(racing, 2))
    assert (first.spared_wall, first.spared_cpu) == (0, 0)

    own = SimulatorBackend("910B4")
    again = RememberedEvaluator(Absent(OPERATOR, WORKLOAD, own, settings=SETTINGS), file)
    told = again.evaluate(slower.model_copy(update={"rationale": "another way"}), 7)
    assert told.measurement == trial.measurement
    assert (told.number, told.candidate.rationale, told.cached) == (7, "another way", False)
    assert again.program(slower) == program != ""
    assert again.admit(told, baseline, baseline).outcome == admitted.outcome
    assert again.members_us(slower) == members != {}
    with pytest.raises(TrialFailure) as same:
        again.confirm(again.evaluate(racing, 2))
    assert same.value.refusal == refused.value.refusal
    assert again.spared_wall > 0


def test_a_profile_is_launched_for_though_the_answer_is_known(tmp_path: Path) -> None:
    timelines = tmp_path / "timelines"
    timelines.mkdir()
    settings = SETTINGS.model_copy(update={"timelines": timelines})
    own = Evaluator(OPERATOR, WORKLOAD, SimulatorBackend("910B4"), settings=settings)
    remembered = RememberedEvaluator(own, tmp_path / "answers.sqlite")
    remembered.evaluate(Candidate(), 0)
    assert list(timelines.iterdir()) == []
    remembered.evaluate(Candidate(), 0, profile=True)
    assert len(list(timelines.iterdir())) > 0


class OnHardware(Evaluator):
    """Says that its figures are a chip's."""

    def fingerprint(self) -> Fingerprint:
        return super().fingerprint().model_copy(update={"simulated": False})


def test_what_scatters_is_not_remembered(tmp_path: Path) -> None:
    scattering = OnHardware(OPERATOR, WORKLOAD, SimulatorBackend("910B4"))
    with pytest.raises(ValueError, match="scatter"):
        RememberedEvaluator(scattering, tmp_path / "answers.sqlite")
