from __future__ import annotations

import threading
import time

import pytest

from ci.backend.pool.base import Sent, WorkerLost
from ci.backend.pool.process import WorkerProcess


@pytest.mark.parametrize("wait", [0.0, 0.3, 1.0])
def test_who_waits_for_an_answer_learns_that_another_thread_ended_the_worker(wait: float) -> None:
    worker = WorkerProcess()
    lost: list[WorkerLost] = []

    def ask() -> None:
        try:
            worker.ask(Sent(number=1, handler="ci.testing.pool:slow"), 600)
        except WorkerLost as problem:
            lost.append(problem)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    while worker.pid is None:
        time.sleep(0.01)
    time.sleep(wait)
    worker.close()
    asking.join(timeout=20)
    assert lost and not asking.is_alive()
