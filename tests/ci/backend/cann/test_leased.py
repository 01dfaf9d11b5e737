"""A pool on a machine with two NPUs, of which the second is not healthy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ci.backend.cann.npu import npu_smi, read_npus
from ci.backend.pool.base import Question
from ci.backend.pool.dispatch import Dispatcher
from ci.backend.pool.local import LocalPool


def test_what_a_broken_device_was_asked_another_one_answers(machine: Path, tmp_path: Path) -> None:
    said: list[str] = []
    devices = len(read_npus(npu_smi()))
    pool = Dispatcher(LocalPool(2, devices, leases=tmp_path), said.append)
    asked = [
        Question(handler="ci.testing.pool:measuring_device", text="cann-direct", seconds=60 + n)
        for n in range(2)
    ]
    try:
        with ThreadPoolExecutor(2) as threads:
            units = list(threads.map(pool.ask, asked))
    finally:
        pool.close()
    assert [str(unit).partition(",")[0].rpartition(":")[2] for unit in units] == ["0", "0"]
    assert len(said) == 1
    assert "Asked again elsewhere: device 1 of" in said[0] and "health Alarm" in said[0]
