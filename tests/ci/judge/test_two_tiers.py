from __future__ import annotations

import pytest

from ci.backend.pool import workers
from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.pool_evaluator import BackendChoice, PooledEvaluator
from ci.judge.two_tiers import GATE, TwoTiers
from ci.model.trial import Candidate, Outcome, Trial
from ci.testing.backend import RACING, SLOWER
from ci.testing.scale_shift import OPERATOR, WORKLOAD, with_statement
from lab.bench.screen import StandIn, screened_by_simulator

MUCH_SLOWER = with_statement("for (int i = 0; i < 2000; ++i) { PipeBarrier<PIPE_ALL>(); }")


class _Counting(Evaluator):
    """A device that notes what it was asked for."""

    asked: list[str]

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        self.asked.append(candidate.hash)
        return super().evaluate(candidate, number, profile=profile)


@pytest.fixture(scope="module")
def device() -> _Counting:
    made = _Counting(OPERATOR, WORKLOAD, StandIn("910B4"))
    made.asked = []
    return made


@pytest.fixture(scope="module")
def tiers(device: _Counting) -> TwoTiers:
    return screened_by_simulator(OPERATOR, "910B4", device)


def test_what_the_device_measures_keeps_the_prediction_beside_it(
    tiers: TwoTiers, device: _Counting
) -> None:
    trial = tiers.evaluate(Candidate(), 0)
    assert trial.measurement is not None and trial.predicted is not None
    assert not trial.screened and device.asked == [Candidate().hash]
    assert trial.measurement.fingerprint == device.fingerprint() == tiers.fingerprint()
    assert trial.predicted.fingerprint.simulated
    assert trial.measurement.score_us > 1.02 * trial.predicted.score_us
    assert len(trial.predicted.cases[0].members_us) > 20


def test_a_race_is_decided_without_the_device(tiers: TwoTiers, device: _Counting) -> None:
    racing = Candidate(files=RACING)
    trial = tiers.evaluate(racing, 3)
    assert (trial.number, trial.outcome, trial.screened) == (3, Outcome.RACE, True)
    assert racing.hash not in device.asked


def test_a_loss_beyond_the_uncertainty_is_decided_without_the_device(
    tiers: TwoTiers, device: _Counting
) -> None:
    trial = tiers.evaluate(MUCH_SLOWER, 4)
    assert (trial.outcome, trial.screened) == (Outcome.UNFIT, True)
    assert trial.refusal is not None and trial.refusal.gate == GATE
    assert "at best over the machine's uncertainty" in trial.refusal.sentence
    assert trial.measurement is None and trial.predicted is not None
    assert MUCH_SLOWER.hash not in device.asked


def test_a_small_loss_is_the_devices_to_decide(tiers: TwoTiers, device: _Counting) -> None:
    slower = Candidate(files=SLOWER)
    trial = tiers.evaluate(slower, 5)
    assert trial.measurement is not None and not trial.screened
    assert slower.hash in device.asked


def test_where_the_simulator_fails_the_operator_itself_it_decides_nothing(
    device: _Counting,
) -> None:
    tiers = TwoTiers(_Failing(OPERATOR, WORKLOAD, StandIn("910B4")), device)
    racing = Candidate(files=RACING)
    trial = tiers.evaluate(racing, 1)
    assert racing.hash in device.asked and not trial.screened


class _Failing(Evaluator):
    """A simulator that cannot run anything, as it is with an operator of an API that it lacks."""

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        return Trial(number=number, candidate=candidate, outcome=Outcome.COMPILE_ERROR)


class _Noting(PooledEvaluator):
    """Workers that note what they begin."""

    noted: tuple[str, ...] = ()

    def begin(self, candidate: Candidate) -> None:
        self.noted = (*self.noted, candidate.hash)
        super().begin(candidate)


@pytest.mark.long
def test_what_is_begun_ahead_is_screened_first() -> None:
    racing, slower = Candidate(files=RACING), Candidate(files=SLOWER)
    with workers("local:2") as pool:
        far = _Noting(OPERATOR, WORKLOAD, BackendChoice(backend="sim", device="910B4"), pool)
        tiers = TwoTiers(Evaluator(OPERATOR, WORKLOAD, SimulatorBackend("910B4")), far)
        assert tiers.size == 2
        for candidate in (racing, slower):
            tiers.begin(candidate)
        assert tiers.evaluate(racing, 1).screened
        trial = tiers.evaluate(slower, 2)
    assert trial.measurement is not None and trial.predicted is not None
    assert far.noted == (slower.hash,)
    assert tiers.begun == 0
