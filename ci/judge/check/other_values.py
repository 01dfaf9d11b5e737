"""Other values for the integer inputs of a case: what only some values show may be no fault.

Without a golden function nothing says what integers an operator takes: indices point into another
tensor, offsets ascend, places differ from each other. A fault of the kernel shows with all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ci.judge.varied.base import input_count, tensors, with_tensors
from ci.model.dtypes import BY_NAME
from ci.model.workload import TensorCase, WorkloadCase


def _lowest(tensor: TensorCase) -> TensorCase:
    low, high = tensor.range
    least = min(max(low, 0.0), high)
    return tensor.model_copy(update={"range": (least, least)})


def _ascending(tensor: TensorCase) -> TensorCase:
    return tensor.model_copy(update={"distribution": "sorted"})


def _counted(tensor: TensorCase) -> TensorCase:
    return tensor.model_copy(update={"distribution": "counted"})


def _different(tensor: TensorCase) -> TensorCase:
    return tensor.model_copy(update={"distribution": "permutation"})


_OTHERS: Final[dict[str, Callable[[TensorCase], TensorCase]]] = {
    "equal integers": _lowest,
    "ascending integers": _ascending,
    "counted integers": _counted,
    "integers that all differ": _different,
}


def other_values(case: WorkloadCase, *, varied: bool) -> Iterator[WorkloadCase]:
    """The case with other values in all drawn integer inputs: equal ones, the range's least that
    is not negative; ascending ones; 0, 1, 2 … to the range's end; and as many
    that all differ as there are elements. None without such inputs.

    Where the case is `varied`, lists of given integers count as drawn: they were given for the
    lengths of another one.
    """
    own = tensors(case)
    free = [_drawn(one) if varied else one for one in own]
    drawn = [n for n, one in enumerate(free[: input_count(case)]) if _is_drawn(one)]
    for how, change in _OTHERS.items() if drawn else ():
        changed = [change(free[n]) if n in drawn else one for n, one in enumerate(own)]
        yield with_tensors(case, how, changed)


def _drawn(one: TensorCase) -> TensorCase:
    """Given integers as such that are drawn from their range; one alone is a number and stays."""
    values = [value for value in one.values or () if not isinstance(value, complex)]
    if len(values) < 2:
        return one
    return one.model_copy(update={"values": None, "range": (min(values), max(values))})


def _is_drawn(one: TensorCase) -> bool:
    dtype = BY_NAME[one.dtype]
    whole = not (dtype.is_float or dtype.is_complex or one.dtype == "bool")
    return whole and one.values is None and one.present
