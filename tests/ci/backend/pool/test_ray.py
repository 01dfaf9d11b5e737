"""A pool on a real Ray cluster of two nodes on this host, started once for this file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'ascendopt[ray]'")

from ci.backend.pool.base import Sent
from ci.backend.pool.dispatch import Dispatcher
from ci.backend.pool.leases import Lease, lease_file
from ci.backend.pool.ray import RayPool
from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.pool_evaluator import BackendChoice, PooledEvaluator
from ci.model.trial import Candidate, Trial
from ci.testing.backend import BROKEN, RACING, SLOWER
from ci.testing.pool import SECRET, PoolContract
from ci.testing.scale_shift import OPERATOR, WORKLOAD
from tests.ci.backend.pool.cluster import NPUS, started_cluster

SIM = BackendChoice(backend="sim", device="910B4")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Begun by a process whose environment holds a secret."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET, "very secret")
        with started_cluster(patch) as made:
            yield made


@pytest.fixture(scope="module")
def said() -> list[str]:
    """What the pool told of lost workers."""
    return []


@pytest.fixture(scope="module")
def two(cluster: Any, said: list[str]) -> Iterator[Dispatcher]:
    made = Dispatcher(RayPool(cluster.address), said.append)
    yield made
    made.close()


class TestRayPool(PoolContract):
    @pytest.fixture
    def pool(self, two: Dispatcher) -> Dispatcher:
        return two


def test_each_worker_has_one_of_the_devices_that_its_host_was_shown(cluster: Any) -> None:
    pool = RayPool(cluster.address, npu=True)
    seats = pool.seats()
    try:
        asked = Sent(number=1, handler="ci.testing.pool:device")
        assert {seat.ask(asked, 60).text for seat in seats} == {str(n) for n in NPUS}
        assert [Lease.take(number) for number in NPUS] == [None, None]
    finally:
        for seat in seats:
            seat.close()
        for number in NPUS:
            lease_file(number).unlink(missing_ok=True)


def told(trial: Trial) -> dict[str, Any]:
    """All of a trial but how long it took."""
    return trial.model_dump(exclude={"seconds"})


def test_trials_are_those_of_one_process_though_a_node_is_killed(
    cluster: Any, two: Dispatcher, said: list[str]
) -> None:
    candidates = [Candidate(files=files) for files in ({}, SLOWER, BROKEN, RACING)]
    here = Evaluator(OPERATOR, WORKLOAD, SimulatorBackend("910B4"))
    there = PooledEvaluator(OPERATOR, WORKLOAD, SIM, two)
    assert there.fingerprint() == here.fingerprint()
    for candidate in candidates[1:]:
        there.begin(candidate)
    said.clear()
    cluster.remove_node(cluster.second, allow_graceful=False)
    found = [there.evaluate(c, n) for n, c in enumerate(candidates)]
    assert [told(t) for t in found] == [told(here.evaluate(c, n)) for n, c in enumerate(candidates)]
    assert any("Asked again elsewhere" in one for one in said)
    baseline, slower = found[:2]
    assert told(there.admit(slower, baseline, baseline)) == told(
        here.admit(slower, baseline, baseline)
    )
    assert there.confirm(baseline) == here.confirm(baseline)
