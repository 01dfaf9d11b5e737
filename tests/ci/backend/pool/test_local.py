from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci.backend.pool.base import Question, Sent
from ci.backend.pool.dispatch import Dispatcher
from ci.backend.pool.leases import VISIBLE, Lease
from ci.backend.pool.local import LocalPool, LocalSeat
from ci.backend.pool.process import WorkerProcess
from ci.model.errors import EnvironmentProblem
from ci.testing.pool import SECRET, PoolContract

ENVIRONMENT = Question(handler="ci.testing.pool:names_of_environment")


@pytest.fixture(scope="module")
def two() -> Iterator[Dispatcher]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET, "very secret")
        made = Dispatcher(LocalPool(2))
        yield made
        made.close()


class TestLocalPool(PoolContract):
    @pytest.fixture
    def pool(self, two: Dispatcher) -> Dispatcher:
        return two


def test_each_worker_has_a_device_of_its_own_among_the_visible(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VISIBLE, "6,3,5")
    pool = LocalPool(2, devices=8, leases=tmp_path)
    seats = pool.seats()
    assert [seat.name.split(" of ")[0] for seat in seats] == ["device 6", "device 3"]
    with pytest.raises(EnvironmentProblem, match=r"2 devices are asked for and 1 of the 3"):
        LocalPool(2, devices=8, leases=tmp_path).seats()
    for seat in seats:
        seat.close()
    again = LocalPool(3, devices=8, leases=tmp_path).seats()
    assert [seat.name.split(" of ")[0] for seat in again] == ["device 6", "device 3", "device 5"]


def test_a_worker_sees_its_device_alone(tmp_path: Path) -> None:
    lease = Lease.take(5, tmp_path)
    assert lease is not None
    seat = LocalSeat(1, lease)
    try:
        said = seat.ask(Sent(number=1, handler="ci.testing.pool:device"), 60)
    finally:
        seat.close()
    assert said.text == "5"


def test_a_worker_imports_nothing_of_the_folder_that_a_person_is_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pydantic.py").write_text("import os; os._exit(9)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    worker = WorkerProcess()
    try:
        assert worker.ask(Sent(number=1, handler="ci.testing.pool:echo"), 60).kind == "done"
    finally:
        worker.close()


def test_a_worker_ends_with_the_process_that_asked_it(tmp_path: Path) -> None:
    """A killed run leaves no worker that goes on, and no lease."""
    script = (
        "import sys, pathlib\n"
        "from ci.backend.pool.base import Sent\n"
        "from ci.backend.pool.local import LocalSeat\n"
        "from ci.backend.pool.leases import Lease\n"
        "seat = LocalSeat(1, Lease.take(4, pathlib.Path(sys.argv[1])))\n"
        "said = seat.ask(Sent(number=1, handler='ci.testing.pool:echo'), 60)\n"
        "print(said.text[1], flush=True)\n"
        "seat.ask(Sent(number=2, handler='ci.testing.pool:slow'), 600)\n"
    )
    driver = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        worker = _stopped_worker(driver)
    finally:
        driver.kill()
        driver.wait()
    assert Lease.take(4, tmp_path) is None, "as long as the worker may use the device"
    os.kill(worker, signal.SIGCONT)
    for _ in range(200):
        lease = Lease.take(4, tmp_path)
        if lease is not None:
            break
        time.sleep(0.05)
    assert lease is not None, f"worker {worker} goes on"


def _stopped_worker(driver: subprocess.Popen[str]) -> int:
    """The process that the driver asked, which from now on does nothing."""
    assert driver.stdout is not None
    with driver.stdout:
        worker = int(driver.stdout.readline())
    os.kill(worker, signal.SIGSTOP)
    state = Path(f"/proc/{worker}/stat")
    while state.read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.01)
    return worker


def test_a_worker_that_writes_nonsense_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    from ci.backend.pool.base import WorkerLost

    monkeypatch.setattr(sys, "executable", "/bin/echo")
    with pytest.raises(WorkerLost, match="malformed answer|ended with code 0"):
        WorkerProcess().ask(Sent(number=1, handler="ci.testing.pool:echo"), 10)
