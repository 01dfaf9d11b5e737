"""Cases like the workload's and yet others: near shapes, lengths at an edge, odd values, dtypes.

A length is changed wherever the case has it, so that shapes which belong together still do.
Tensors of given values keep their shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from ci.model.dtypes import BY_NAME
from ci.model.operator import Operator, TensorSpec
from ci.model.workload import Entry, TensorCase, Workload, WorkloadCase

BLOCK_BYTES = 32
PRIMES = (97, 1009)
"""Lengths of the last dimension to try: no tile divides them."""

MOST_ELEMENTS = 1 << 22
"""Larger tensors would make the check slower than the search."""


def other_shapes(workload: Workload) -> Iterator[WorkloadCase]:
    """Cases with one dimension a little or much different; the workload's cases in turns."""
    return in_turns(_other_lengths(case) for case in workload.cases)


def edge_cases(operator: Operator, workload: Workload) -> Iterator[WorkloadCase]:
    """Cases at the edge of what an operator is for, kinds in turns, from the workload's first case.

    One element; a 32-byte block less and more than the workload's; prime lengths; empty tensors;
    NaN, infinities, signed zeros and denormals among the inputs; dtypes that the definition has
    and the workload leaves out.
    """
    case = workload.cases[0]
    return in_turns((_edge_lengths(case), _special(case), _other_dtypes(operator, workload)))


def in_turns(kinds: Iterable[Iterator[WorkloadCase]]) -> Iterator[WorkloadCase]:
    """One case of each kind after the other, as long as any kind has some."""
    left = list(kinds)
    while left:
        for kind in tuple(left):
            found = next(kind, None)
            if found is None:
                left.remove(kind)
            else:
                yield found


def _tensors(case: WorkloadCase) -> list[TensorCase]:
    return [t for e in case.inputs for t in (e if isinstance(e, tuple) else (e,)) if t.present]


def _resized(case: WorkloadCase, old: int, new: int) -> WorkloadCase:
    def tensor(one: TensorCase) -> TensorCase:
        if one.values is not None:
            return one
        return one.model_copy(update={"shape": tuple(new if d == old else d for d in one.shape)})

    return case.changed(f"{new} for {old}", tensor)


def _other_lengths(case: WorkloadCase) -> Iterator[WorkloadCase]:
    tensors = _tensors(case)
    fixed = {d for t in tensors if t.values is not None for d in t.shape}
    dims = [d for t in tensors[:1] for d in t.shape if d > 1 and d not in fixed]
    for index, dim in enumerate(dict.fromkeys(dims)):
        last = index == len(dims) - 1
        for new in (dim + 16, dim - 1) if last else (dim + 1, dim * 3 - 1, max(1, dim // 2 + 1)):
            changed = _resized(case, dim, new)
            if new != dim and sum(prod(t.shape) for t in _tensors(changed)) <= MOST_ELEMENTS:
                yield changed


def _edge_lengths(case: WorkloadCase) -> Iterator[WorkloadCase]:
    tensors = _tensors(case)
    given = any(t.values is not None and len(t.values) > 1 for t in tensors)
    if given or not tensors or not tensors[0].shape:
        return
    last = tensors[0].shape[-1]
    block = max(1, int(BLOCK_BYTES / BY_NAME[tensors[0].dtype].bytes))
    for length in (1, last + block, 0, max(1, last - block), *PRIMES):
        if length != last:
            yield _resized(case, last, length)


def _special(case: WorkloadCase) -> Iterator[WorkloadCase]:
    """The case with what is no ordinary number among its floating-point inputs."""

    def sprinkled(tensor: TensorCase) -> TensorCase:
        if tensor.values is not None or not BY_NAME[tensor.dtype].is_float:
            return tensor
        return tensor.model_copy(update={"distribution": "special"})

    made = case.changed("NaN and infinities", sprinkled)
    if made.inputs != case.inputs:
        yield made


def _other_dtypes(operator: Operator, workload: Workload) -> Iterator[WorkloadCase]:
    """The first case in each dtype column that no case of the workload is in."""
    case = workload.cases[0]
    seen = {_dtypes(c) for c in workload.cases}
    columns = max((len(spec.dtypes) for spec in operator.inputs), default=0)
    for column in range(columns):
        inputs = tuple(
            _as_column(entry, spec, column)
            for entry, spec in zip(case.inputs, operator.inputs, strict=False)
        )
        other = case.model_copy(update={"inputs": inputs, "outputs": ()})
        key = _dtypes(other)
        if key in seen or any(_unfit(t) for t in _tensors(other)):
            continue
        seen.add(key)
        name = f"{case.name} ({', '.join(dict.fromkeys(d for d in key))})"
        outputs = tuple(
            _as_column(entry, spec, column)
            for entry, spec in zip(case.outputs, operator.outputs, strict=False)
        )
        yield other.model_copy(update={"name": name, "outputs": outputs})


def _dtypes(case: WorkloadCase) -> tuple[str, ...]:
    return tuple(t.dtype for t in _tensors(case))


def _unfit(tensor: TensorCase) -> bool:
    """A range that holds no value of the dtype, or a dtype that cannot be drawn or compared."""
    dtype = BY_NAME.get(tensor.dtype)
    if dtype is None or dtype.bytes < 1:
        return True
    low, high = tensor.range
    return not (dtype.is_float or dtype.is_complex or dtype.name == "bool" or high - low >= 2)


def _as_column(entry: Entry, spec: TensorSpec, column: int) -> Entry:
    if not spec.dtypes:
        return entry
    dtype = spec.dtypes[min(column, len(spec.dtypes) - 1)]
    if isinstance(entry, tuple):
        return tuple(t.model_copy(update={"dtype": dtype}) for t in entry)
    return entry.model_copy(update={"dtype": dtype})
