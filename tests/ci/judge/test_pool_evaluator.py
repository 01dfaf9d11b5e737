from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ci.backend.pool import workers
from ci.backend.pool.base import Answer, Pool, Seat, Sent, WorkerLost
from ci.backend.pool.dispatch import Dispatcher
from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.pool_evaluator import BackendChoice, PooledEvaluator
from ci.model.errors import InputError, TrialFailure
from ci.model.trial import Candidate, Outcome, Trial
from ci.testing.backend import RACING, SLOWER
from ci.testing.scale_shift import OPERATOR, WORKLOAD

SIM = BackendChoice(backend="sim", device="910B4")


@pytest.fixture(scope="module")
def pool() -> Iterator[Dispatcher]:
    with workers("local:2") as made:
        yield made


@pytest.fixture(scope="module")
def here() -> Evaluator:
    return Evaluator(OPERATOR, WORKLOAD, SimulatorBackend("910B4"))


def told(trial: Trial) -> dict[str, Any]:
    """All of a trial but how long it took."""
    return trial.model_dump(exclude={"seconds"})


@pytest.mark.long
def test_a_pool_judges_as_one_process_does(pool: Dispatcher, here: Evaluator) -> None:
    there = PooledEvaluator(OPERATOR, WORKLOAD, SIM, pool)
    assert there.fingerprint() == here.fingerprint()
    baseline = there.evaluate(Candidate(), 0)
    assert told(baseline) == told(here.evaluate(Candidate(), 0))
    slower = Candidate(files=SLOWER, rationale="a barrier more")
    assert there.program(slower) == here.program(slower) != ""
    there.begin(slower)
    trial = there.evaluate(slower, 7)
    assert told(trial) == told(here.evaluate(slower, 7))
    assert (trial.number, trial.candidate.rationale) == (7, "a barrier more")
    assert there.begun == 0
    admitted = there.admit(trial, baseline, baseline)
    assert told(admitted) == told(here.admit(trial, baseline, baseline))


def test_what_the_final_check_refuses_is_refused_with_its_reason(
    pool: Dispatcher, here: Evaluator
) -> None:
    there = PooledEvaluator(OPERATOR, WORKLOAD, SIM, pool)
    racing = there.evaluate(Candidate(files=RACING), 1)
    with pytest.raises(TrialFailure) as far:
        there.confirm(racing)
    with pytest.raises(TrialFailure) as near:
        here.confirm(racing)
    assert (far.value.outcome, far.value.refusal) == (near.value.outcome, near.value.refusal)


def test_a_golden_outside_the_repository_is_found(pool: Dispatcher, tmp_path: Path) -> None:
    shutil.copy(WORKLOAD.folder / "golden.py", tmp_path / "right.py")
    name = WORKLOAD.golden.rpartition(":")[2]
    workload = WORKLOAD.model_copy(update={"folder": tmp_path, "golden": f"right.py:{name}"})
    there = PooledEvaluator(OPERATOR, workload, SIM, pool)
    assert there.evaluate(Candidate(), 0).outcome is Outcome.OK
    missing = workload.model_copy(update={"golden": "right.py:nobody"})
    with pytest.raises(InputError, match="nobody"):
        PooledEvaluator(OPERATOR, missing, SIM, pool).load()


class _Deaf(Pool, Seat):
    """A pool of one seat whose workers are always lost."""

    name = "nowhere"

    def seats(self) -> list[Seat]:
        return [self]

    def ask(self, sent: Sent, seconds: float) -> Answer:
        raise WorkerLost("the worker was ended by SIGKILL")

    def folders(self, folders: Any) -> dict[str, str]:
        return {}

    def close(self) -> None:
        pass


def test_a_candidate_that_no_worker_survives_is_a_launch_error() -> None:
    there = PooledEvaluator(OPERATOR, WORKLOAD, SIM, Dispatcher(_Deaf()))
    trial = there.evaluate(Candidate(files=RACING), 4)
    assert (trial.number, trial.outcome) == (4, Outcome.LAUNCH_ERROR)
    assert trial.refusal is not None
    assert "Two workers were lost over it" in trial.refusal.sentence
    assert there.program(Candidate(files=SLOWER)) == ""
