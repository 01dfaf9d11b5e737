"""Varied cases that an operator may not be made for, where no golden function says so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ci.judge.check.host_state import as_inferred
from ci.judge.gate_subject import Standard
from ci.judge.launch_record import Launched
from ci.judge.varied.base import input_count, tensors
from ci.judge.varied.lengths import Empty
from ci.judge.varied.values import Attributes, Exact, GivenValues, Ranges
from ci.model.dtypes import BY_NAME
from ci.model.launch import arrays
from ci.model.workload import TensorCase, WorkloadCase

DECIDING = (Attributes.name, GivenValues.name)
"""What is varied that may decide the shapes of the outputs."""


def doubtful(standard: Standard, family: str, case: WorkloadCase) -> bool:
    """Whether nothing says that the operator takes a case, as its inputs no longer fit together,
    are empty, hold integers of another range, or may ask for other outputs than the case has."""
    if not family or standard.workload.golden:
        return False
    if unlike(standard.workload.cases, family, case):
        return True
    return family in DECIDING and as_inferred(standard, case) is None


def outputs_guessed(standard: Standard, family: str, case: WorkloadCase) -> bool:
    """Whether neither a golden function nor InferShape says how long the outputs of a case of
    other shapes are."""
    if not family or standard.workload.golden:
        return False
    own = [_shapes(known) for known in standard.workload.cases]
    return _shapes(case) not in own and as_inferred(standard, case) is None


def may_round(own: Sequence[Launched], found: Launched) -> bool:
    """Whether the outputs of a case, all float32, are off by no more than sums may be that are as
    much longer than the workload's longest: each number added rounds once more, and tolerances
    are made for the `own` cases."""
    longest, here = max(map(_summed, own), default=0.0), _summed(found)
    wide = all(one.dtype == np.float32 for one in arrays(found.run.outputs))
    return wide and 0 < longest < here and found.compared.worst_error <= here / longest


def _summed(one: Launched) -> float:
    """How many numbers of the longest input there are to one of the longest output."""
    longest = max((each.size for each in arrays(one.run.outputs)), default=0)
    return max((math.prod(each.shape) for each in _inputs(one.case)), default=0) / max(longest, 1)


def unlike(own: Sequence[WorkloadCase], family: str, case: WorkloadCase) -> bool:
    """Whether the inputs of a case differ from those of the `own` cases in what may be required."""
    if family in (Ranges.name, Exact.name):  # an index into another tensor points beyond it
        return any(_whole(one) for one in _inputs(case))
    return family == Empty.name or lengths_part(own, case)


def lengths_part(own: Sequence[WorkloadCase], case: WorkloadCase) -> bool:
    """Whether two inputs differ in a dimension, counted from the last one, in which they are equal
    in every one of the `own` cases whose inputs have as many dimensions."""
    inputs = _inputs(case)
    ranks = _ranks(inputs)
    alike = [known for known in map(_inputs, own) if _ranks(known) == ranks]
    return any(
        inputs[a].shape[-d] != inputs[b].shape[-d]
        and all(known[a].shape[-d] == known[b].shape[-d] for known in alike)
        for a, b in combinations(range(len(inputs)), 2)
        if alike and inputs[a].values is None and inputs[b].values is None
        for d in range(1, min(ranks[a], ranks[b]) + 1)
    )


def _whole(one: TensorCase) -> bool:
    dtype = BY_NAME[one.dtype]
    return not (dtype.is_float or dtype.is_complex)


def _shapes(case: WorkloadCase) -> list[tuple[int, ...]]:
    return [one.shape for one in _inputs(case)]


def _ranks(inputs: Sequence[TensorCase]) -> list[int]:
    return [len(one.shape) for one in inputs]


def _inputs(case: WorkloadCase) -> list[TensorCase]:
    return [one for one in tensors(case)[: input_count(case)] if one.present]
