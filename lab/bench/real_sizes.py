"""Workloads at the sizes of real models, made of small ones."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, prod

from ci.judge.varied.axes import axes
from ci.judge.varied.base import Known, input_count, tensors
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.workload import Workload, WorkloadCase


def at_size(
    operator: Operator,
    workload: Workload,
    elements: int,
    takes: Callable[[WorkloadCase], bool],
) -> Workload:
    """The workload with cases whose largest input has at least `elements`.

    A smaller case is lengthened in the first dimension that `takes`, the unmodified operator,
    takes longer; what belongs to that dimension in other tensors and attributes grows with it. A
    case that cannot grow so is left out. Raises InputError where none is left.
    """
    known = Known(operator, workload, takes)
    grown = [made for case in workload.cases if (made := _grown(known, case, elements))]
    if not grown:
        raise InputError(
            f"{operator.name}: it takes no case of its workload with {elements} elements."
        )
    return workload.model_copy(update={"cases": tuple(grown)})


def _grown(known: Known, case: WorkloadCase, elements: int) -> WorkloadCase | None:
    sizes = [prod(tensor.shape) for tensor in tensors(case)[: input_count(case)]]
    largest = max(sizes, default=0)
    if largest >= elements:
        return case
    for axis in axes(known, case) if largest else ():
        times = [n for n, size in enumerate(sizes) if size == largest]
        dimensions = max(sum(number == n for number, _ in axis.places) for n in times)
        if not dimensions:
            continue
        length = ceil(axis.length * (elements / largest) ** (1 / dimensions))
        made = axis.resized(known, -(-length // axis.step) * axis.step)
        if known.takes(made):
            return made
    return None
