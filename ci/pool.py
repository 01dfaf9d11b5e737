"""Evaluates several candidates side by side.

Threads suffice: an evaluation waits for compilers and machines, which are processes of their own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from ci.evaluate import Evaluator
from ci.trial import Candidate, Trial


def default_workers() -> int:
    """One evaluation a processor: each keeps about one busy."""
    return max(1, os.cpu_count() or 1)


class EvaluationPool:
    """Hands candidates to an evaluator on several threads; close it or use it in `with`."""

    def __init__(self, evaluator: Evaluator, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise ValueError(f"a pool needs at least one worker, not {workers}")
        self._evaluator = evaluator
        self._threads = ThreadPoolExecutor(workers or default_workers(), "evaluate")

    def submit(self, candidate: Candidate, number: int) -> Future[Trial]:
        """Start an evaluation as soon as a worker is free."""
        return self._threads.submit(self._evaluator.evaluate, candidate, number)

    def evaluate_all(self, candidates: Iterable[tuple[Candidate, int]]) -> Iterator[Trial]:
        """Trials of (candidate, number) pairs, in the order given."""
        for future in [self.submit(candidate, number) for candidate, number in candidates]:
            yield future.result()

    def close(self) -> None:
        """Drop what has not started and wait for what has."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
