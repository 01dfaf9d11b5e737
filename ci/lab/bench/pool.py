"""How many evaluations a pool's workers do side by side, when each waits for a device."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from ci.backend.pool import capacity, workers
from ci.backend.pool.base import Question
from ci.backend.pool.dispatch import Dispatcher
from ci.model.bench.pool import PoolBenchSettings, PoolRow
from ci.model.errors import InputError

_HANDLER: Final = "ci.lab.bench.pool:answer"


def measure(settings: PoolBenchSettings, tell: Callable[[str], None]) -> list[PoolRow]:
    """A row for each number of workers. Raises InputError for numbers that are none."""
    try:
        numbers = [int(word) for word in settings.workers.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise InputError(f"--workers cannot be '{settings.workers}': give numbers such as 1,2,4.")
    cluster = settings.pool.startswith("ray:")
    room = capacity(settings.pool) if cluster else max(numbers)
    rows = []
    for number in numbers:
        if number > room:
            tell(f"{number} workers: the cluster has room for {room}")
            continue
        tell(f"{number} workers")
        spec = settings.pool if cluster else f"local:{number}"
        with workers(spec, most=number) as pool:
            rows.append(_row(pool, number, settings))
    return rows


def _row(pool: Dispatcher, number: int, settings: PoolBenchSettings) -> PoolRow:
    with ThreadPoolExecutor(number) as threads:
        started = time.monotonic()
        list(threads.map(pool.ask, [_sleeping(0.2, -n) for n in range(1, number + 1)]))
        begun = time.monotonic()
        asked = [_sleeping(settings.seconds, n) for n in range(settings.evaluations)]
        list(threads.map(pool.ask, asked))
        ended = time.monotonic()
    return PoolRow(
        workers=number,
        evaluations=settings.evaluations,
        seconds=ended - begun,
        start_seconds=begun - started,
        slept=settings.seconds,
    )


def _sleeping(seconds: float, number: int) -> Question:
    return Question(handler=_HANDLER, text=[seconds, number])


def answer(text: JsonValue, folders: dict[str, Path]) -> JsonValue:
    """At a worker: wait as one does whose device is at work."""
    assert isinstance(text, list)
    time.sleep(float(str(text[0])))
    return text[1]
