"""Is a faster candidate still right, and not much slower, on shapes outside the workload?

A tiling constant can be right for the shapes at hand only by luck: the work divides evenly, the
tail is empty. And a core count can be so cut for small inputs that larger ones crawl. So before a
candidate is inherited it is run on shapes near the workload's, on those that the operator as it
stands handles: what worked must go on working, at about the speed it had.
"""

from __future__ import annotations

from collections.abc import Iterator

from ci.backend.base import Backend
from ci.judge.evaluate import Evaluator
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.trial import Candidate, Measurement, Outcome
from ci.model.workload import TensorCase, Workload, WorkloadCase

MOST_CASES = 6
"""Further cases in all: each costs a launch for every candidate that would be inherited."""

SLOWER = 0.10
"""On a shape that nobody asked for, a tenth may be lost; more would be a regression for others."""

MOST_ELEMENTS = 1 << 22
"""Larger tensors would make the check slower than the search."""


class OtherShapes:
    """Runs candidates on the shapes near the workload's that the unmodified operator handles."""

    def __init__(self, operator: Operator, workload: Workload, backend: Backend) -> None:
        self._operator = operator
        self._workload = workload.model_copy(update={"seeds": workload.seeds[:1]})
        self._backend = backend
        self._judge: Evaluator | None = None
        self._handled: tuple[WorkloadCase, ...] | None = None

    @property
    def handled(self) -> tuple[WorkloadCase, ...]:
        """The further cases that the operator as it stands passes; found at the first call."""
        if self._handled is None:
            passed: list[WorkloadCase] = []
            for case in other_shapes(self._workload):
                if self._passes(case):
                    passed.append(case)
                if len(passed) == MOST_CASES:
                    break
            self._handled = tuple(passed)
        return self._handled

    def fault(self, candidate: Candidate) -> str:
        """What the candidate does wrong on another shape, in a sentence; '' when all is well."""
        if not self.handled:
            return ""
        if self._judge is None:
            self._judge = self._evaluator(self.handled)
        trial = self._judge.evaluate(candidate, 0)
        if trial.warnings:
            return f"on other shapes than the workload's it warns: {trial.warnings[0]}"
        if trial.measurement is not None:
            return self._slower(trial.measurement)
        words = trial.refusal.message if trial.refusal else trial.outcome.value
        return f"on other shapes than the workload's it fails ({trial.outcome.value}): {words}"

    def _slower(self, measured: Measurement) -> str:
        assert self._judge is not None
        before = self._judge.evaluate(Candidate(), 0).measurement
        if before is None:
            return ""
        for old, new in zip(before.cases, measured.cases, strict=True):
            if new.low_us > old.high_us * (1 + SLOWER):
                return (
                    f"on other shapes than the workload's it is slower: {new.case} by "
                    f"{new.median_us / old.median_us - 1:.0%}"
                )
        return ""

    def _passes(self, case: WorkloadCase) -> bool:
        try:
            trial = self._evaluator((case,)).evaluate(Candidate(), 0)
            return trial.outcome is Outcome.OK and not trial.warnings
        except InputError:  # the golden function does not take this shape
            return False

    def _evaluator(self, cases: tuple[WorkloadCase, ...]) -> Evaluator:
        workload = self._workload.model_copy(update={"cases": cases})
        return Evaluator(self._operator, workload, self._backend)


def other_shapes(workload: Workload) -> Iterator[WorkloadCase]:
    """Cases like the workload's with one dimension a little or much different, in turns.

    A dimension is changed wherever the case has it, so that shapes which belong together still
    do. Cases whose inputs have given values keep the dimensions of those.
    """
    ways = [_variants(case) for case in workload.cases]
    while ways:
        for way in tuple(ways):
            found = next(way, None)
            if found is None:
                ways.remove(way)
            else:
                yield found


def _variants(case: WorkloadCase) -> Iterator[WorkloadCase]:
    tensors = [
        t for entry in case.inputs for t in (entry if isinstance(entry, tuple) else (entry,))
    ]
    fixed = {d for t in tensors if t.values is not None for d in t.shape}
    dims = [d for t in tensors[:1] for d in t.shape if d > 1 and d not in fixed]
    for index, dim in enumerate(dict.fromkeys(dims)):
        last = index == len(dims) - 1
        for new in (
            (dim + 1, dim * 3 - 1, max(1, dim // 2 + 1)) if not last else (dim + 16, dim - 1)
        ):
            changed = _with(case, dim, new)
            if new != dim and _elements(changed) <= MOST_ELEMENTS:
                yield changed


def _with(case: WorkloadCase, dim: int, new: int) -> WorkloadCase:
    def tensor(one: TensorCase) -> TensorCase:
        if one.values is not None:
            return one
        return one.model_copy(update={"shape": tuple(new if d == dim else d for d in one.shape)})

    return case.changed(f"{new} for {dim}", tensor)


def _elements(case: WorkloadCase) -> int:
    total = 0
    for entry in case.inputs:
        for tensor in entry if isinstance(entry, tuple) else (entry,):
            count = 1
            for dim in tensor.shape:
                count *= dim
            total += count
    return total
