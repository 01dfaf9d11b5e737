"""How many evaluations a pool's workers do side by side, when each waits for a device."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from ci.backend.pool import capacity, workers
from ci.backend.pool.base import Question
from ci.backend.pool.dispatch import Dispatcher
from ci.judge.pool_evaluator import BackendChoice, PooledEvaluator
from ci.judge.pool_evaluator import answer as judged
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.settings import DEFAULT_DEVICE, OptimizeSettings
from ci.proposer.rules.proposer import rules_proposer
from ci.search.optimize import optimize
from ci.search.run import was_paid
from ci.search.task import Task
from ci.source.workload_file import load_workload
from ci.system.cache import digest
from lab.model.pool import PoolBench, PoolBenchSettings, PoolRow

_HANDLER: Final = "lab.bench.pool:answer"

SLEPT: Final = 5.0
"""Wall time in s that an evaluation of a search sleeps: a device takes pairs for as long."""


def measure(
    settings: PoolBenchSettings, operator: Operator, tell: Callable[[str], None]
) -> PoolBench:
    """A row for each number of workers; `operator` is what is searched.

    Raises InputError for numbers that are none.
    """
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
            if settings.search:
                rows.append(_searched(pool, number, settings, operator))
            else:
                rows.append(_row(pool, number, settings))
    return PoolBench(rows=tuple(rows))


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


class _Sleeping(PooledEvaluator):
    handler = "lab.bench.pool:evaluated"


def _searched(
    pool: Dispatcher, number: int, settings: PoolBenchSettings, operator: Operator
) -> PoolRow:
    """One search by rules, whose idle workers look ahead."""
    workload = load_workload(operator, None)
    sim = BackendChoice(backend="sim", device=DEFAULT_DEVICE)
    judge = _Sleeping(operator, workload, sim, pool)
    started = time.monotonic()
    with ThreadPoolExecutor(number) as threads:
        list(threads.map(pool.ask, [_sleeping(0.2, n) for n in range(number)]))
    judge.load()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ascendopt-") as folder:
        chosen = OptimizeSettings(budget=settings.search, learn=False)
        found = optimize(Task(operator, workload, judge, rules_proposer()), chosen, Path(folder))
    ended = time.monotonic()
    return PoolRow(
        workers=number,
        evaluations=sum(map(was_paid, found.trials)),
        seconds=ended - begun,
        start_seconds=begun - started,
        slept=SLEPT,
        trials=digest(t.model_dump_json(exclude={"seconds"}) for t in found.trials)[:8],
    )


def _sleeping(seconds: float, number: int) -> Question:
    return Question(handler=_HANDLER, text=[seconds, number])


def evaluated(text: JsonValue, folders: dict[str, Path]) -> JsonValue:
    """Evaluate at a worker, and wait as one does whose device is at work."""
    said = judged(text, folders)
    assert isinstance(text, dict)
    if text["call"] in ("evaluate", "both"):
        time.sleep(SLEPT)
    return said


def answer(text: JsonValue, folders: dict[str, Path]) -> JsonValue:
    """Wait at a worker as one does whose device is at work."""
    assert isinstance(text, list)
    time.sleep(float(str(text[0])))
    return text[1]
