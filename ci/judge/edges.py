"""Cases at the edge of what an operator is for, where a rewrite that is right elsewhere may fail.

One element; a 32-byte block less and more than the workload's; prime lengths; empty tensors; NaN,
infinities, signed zeros and denormals among the inputs; dtypes that the definition has and the
workload leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator

from ci.model.dtypes import BY_NAME
from ci.model.operator import Operator, TensorSpec
from ci.model.workload import Entry, TensorCase, Workload, WorkloadCase

BLOCK_BYTES = 32
PRIMES = (1, 97, 1009)
"""Lengths of the last dimension to try: one element, and primes that no tile divides."""


def edge_cases(operator: Operator, workload: Workload, most: int) -> list[WorkloadCase]:
    """At most `most` edge cases, kinds in turns; all are made from the workload's first case.

    A length is changed wherever the case has it, so that shapes which belong together still do.
    Cases whose inputs have given values keep their shapes.
    """
    case = workload.cases[0]
    kinds = [_lengths(case), _special(case), _other_dtypes(operator, workload)]
    found: list[WorkloadCase] = []
    while kinds and len(found) < most:
        for kind in tuple(kinds):
            one = next(kind, None)
            if one is None:
                kinds.remove(kind)
            elif len(found) < most:
                found.append(one)
    return found


def _tensors(case: WorkloadCase) -> list[TensorCase]:
    return [t for e in case.inputs for t in (e if isinstance(e, tuple) else (e,)) if t.present]


def _lengths(case: WorkloadCase) -> Iterator[WorkloadCase]:
    tensors = _tensors(case)
    if not tensors or any(t.values is not None and len(t.values) > 1 for t in tensors):
        return
    first = tensors[0]
    if not first.shape:
        return
    last = first.shape[-1]
    block = max(1, int(BLOCK_BYTES / BY_NAME[first.dtype].bytes))
    for length in (1, last + block, 0, max(1, last - block), *PRIMES[1:]):
        if length == last:
            continue

        def resized(tensor: TensorCase, to: int = length) -> TensorCase:
            if tensor.values is not None or last not in tensor.shape:
                return tensor
            return tensor.model_copy(
                update={"shape": tuple(to if d == last else d for d in tensor.shape)}
            )

        yield case.changed(f"{length} for {last}", resized)


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
