"""What else may make a case pass that failed: another frame, or outputs of another shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from math import prod

from ci.derive.accepted_cases import MOST_ELEMENTS
from ci.derive.case_selection import Option, inputs_of
from ci.derive.runner import Failed
from ci.model.dtypes import BY_NAME
from ci.model.operator import Operator
from ci.model.trial import Outcome
from ci.model.workload import Entry, TensorCase, Workload, WorkloadCase
from ci.simulator.launch import stops_itself
from ci.source.empty_body import NOTHING_TO_DO

_TOGETHER = re.compile(r"Core \d+ writes and core \d+ writes the same global memory")
"""A race that two places of one index tensor make, where they name the same."""

_INDICES = ("int32", "int64", "uint32", "uint64")

_PAST = re.compile(r"writes global memory out of bounds: from byte \d+ of output (\d+)\b")

_NOT_INFERRED = (
    "InferShape gives {name} the shape {inferred}, which is that of the first input; the kernel"
    " writes {what}, and it is taken to have the shape {taken}."
)

_LONGER = 64
"""How many times longer an axis is made: a tile has no more rows, mostly."""
_LONG = 64
"""Length of a first axis that is not made longer."""

Mended = tuple[Workload, Option, str]
"""The frame, the case, and what a reader should know; '' when nothing."""


def is_its_own(operator: Operator, option: Option, found: Failed) -> bool:
    """Whether a case fails by the operator's own fault: one of the repository whatever numbers its
    integers draw and however long its outputs, which are often inferred, are; any case by a race,
    where the build says whether synchronisation is automatic. Integers that are drawn may decide
    where in global memory two accesses meet, and not which unit has to wait."""
    if found.outcome is Outcome.RACE:
        by_numbers = "global memory" in found.why and draws_integers(option.taken.case)
        return not (operator.auto_sync_open or by_numbers)
    told = option.asked_for and found.outcome in (Outcome.MEMORY_ERROR, Outcome.LAUNCH_ERROR)
    guessed = found.unwritten is not None or _PAST.search(found.why)
    return (
        told
        and not guessed
        and not stops_itself(found.why)
        and not draws_integers(option.taken.case)
    )


def draws_integers(case: WorkloadCase) -> bool:
    """Whether a case has integers that it does not give."""
    return any(
        t.present and t.values is None and not BY_NAME[t.dtype].is_float for t in inputs_of(case)
    )


def mended(operator: Operator, frame: Workload, option: Option, found: Failed) -> Mended | None:
    """Frame and case as they may pass, None where nothing of this kind made the case fail."""
    if found.outcome is Outcome.RACE and _TOGETHER.search(found.why):
        apart = _with_each_index_once(option)
        if apart is not None:
            note = "No index of it names a place twice: with indices that do, two cores write one."
            return frame, apart, note
    off = not operator.auto_sync if frame.auto_sync is None else not frame.auto_sync
    if found.outcome is Outcome.RACE and off:
        build = (
            f"its build leaves open if it has it ({operator.auto_sync_said_by}), and without it"
            if operator.auto_sync_open
            else f"against its build ({operator.auto_sync_said_by}): as that asks,"
        )
        note = (
            f"It is judged with automatic synchronisation; {build} the simulator reports a race."
            f" {found.why}"
        )
        return frame.model_copy(update={"auto_sync": True}), option, note
    golden_fails = found.why.startswith(f"golden {frame.golden} ")
    if frame.golden and (found.outcome is Outcome.WRONG_RESULT or golden_fails):
        what = "fails" if golden_fails else "disagrees with the operator"
        note = (
            f"The golden function {frame.golden} {what}; the operator is judged against itself"
            f" unchanged. {found.why}"
        )
        return frame.model_copy(update={"golden": ""}), option, note
    if NOTHING_TO_DO in found.why:
        busy = _with_ones(operator, option) or _longer(option)
        return None if busy is None else (frame, busy, "")
    if found.outcome is Outcome.MEMORY_ERROR and (past := _PAST.search(found.why)):
        index = int(past.group(1))
        longer = _as_another_input(option, index)
        if longer is None:
            return None
        return (
            frame,
            longer,
            _NOT_INFERRED.format(
                name=operator.outputs[index].name,
                inferred=list(_shape(option.taken.case.outputs[index])),
                what="more than that",
                taken=list(_shape(longer.taken.case.outputs[index])),
            ),
        )
    left = found.unwritten
    whole = left is not None and left.count == left.size and not left.added
    if left is None or (whole and len(operator.outputs) == 1):
        return None  # it did nothing at all
    name = operator.outputs[left.output].name
    at_its_end = left.first > 0 and left.first + left.count == left.size
    if at_its_end and option.taken.guessed:
        other = _with_output(option, left.output, left.first)
        return None if other is None else (frame, other, "")
    if at_its_end and (other := _as_a_result(option, left.output, left.first)) is not None:
        return (
            frame,
            other,
            _NOT_INFERRED.format(
                name=name,
                inferred=list(_shape(option.taken.case.outputs[left.output])),
                what="less than that",
                taken=list(_shape(other.taken.case.outputs[left.output])),
            ),
        )
    if name in frame.initial:
        return None
    note = f"It leaves bytes of {name} unwritten; they begin as 0."
    return frame.model_copy(update={"initial": {**frame.initial, name: 0.0}}), option, note


def _with_ones(operator: Operator, option: Option) -> Option | None:
    """The case with 1 in each integer attribute that is 0: a count of nothing asks for nothing.
    None where no attribute is."""
    given = option.taken.case.attrs
    zeros = {
        spec.name: 1
        for spec in operator.attrs
        if spec.type == "int" and given.get(spec.name, spec.default) == 0
    }
    if not zeros:
        return None
    case, asked = (
        one.model_copy(update={"attrs": {**one.attrs, **zeros}})
        for one in (option.taken.case, option.taken.asked)
    )
    return replace(option, taken=replace(option.taken, case=case, asked=asked))


def _with_each_index_once(option: Option) -> Option | None:
    """The case with no integer twice in a tensor whose integers are drawn from 0 on; None where no
    tensor is of that kind."""

    def once(entry: Entry) -> Entry:
        if isinstance(entry, tuple):
            return tuple(t for one in entry if isinstance(t := once(one), TensorCase))
        drawn = entry.present and entry.values is None and entry.distribution == "uniform"
        if not drawn or entry.dtype not in _INDICES or entry.range[0] != 0:
            return entry
        return entry.model_copy(update={"distribution": "permutation"})

    case, asked = (
        one.model_copy(update={"inputs": tuple(map(once, one.inputs))})
        for one in (option.taken.case, option.taken.asked)
    )
    if case == option.taken.case:
        return None
    return replace(option, taken=replace(option.taken, case=case, asked=asked))


def _longer(option: Option) -> Option | None:
    """The case with the first axis of its first input longer, wherever a tensor begins with that: a
    kernel that takes whole tiles leaves a small case alone. None where it is long already."""
    tensors = [t for t in inputs_of(option.taken.case) if t.present and t.shape]
    first = tensors[0].shape[0] if tensors else _LONG
    if first >= _LONG or sum(prod(t.shape) for t in tensors) * _LONGER > MOST_ELEMENTS:
        return None

    def longer(entry: Entry) -> Entry:
        if isinstance(entry, tuple):
            return tuple(t for one in entry if isinstance(t := longer(one), TensorCase))
        if entry.values is not None or entry.shape[:1] != (first,):
            return entry
        return entry.model_copy(update={"shape": (first * _LONGER, *entry.shape[1:])})

    case, asked = (
        one.model_copy(
            update={
                "inputs": tuple(map(longer, one.inputs)),
                "outputs": tuple(map(longer, one.outputs)),
            }
        )
        for one in (option.taken.case, option.taken.asked)
    )
    return replace(option, taken=replace(option.taken, case=case, asked=asked))


def _with_output(option: Option, index: int, written: int) -> Option | None:
    """The case with an output of as many bytes as the kernel has written, None if that is none."""
    case = option.taken.case
    entry = case.outputs[index]
    one = (entry[0] if entry else None) if isinstance(entry, tuple) else entry
    if one is None or written * 8 % BY_NAME[one.dtype].bits:
        return None
    elements = written * 8 // BY_NAME[one.dtype].bits
    shape = next((s for s in _likely(option) if prod(s) == elements), (elements,))
    return _with_shape(option, index, shape)


def _with_shape(option: Option, index: int, *shapes: tuple[int, ...]) -> Option:
    """The case with another shape of an output; where it is a list, with as many tensors as there
    are shapes, or of one shape all."""
    case = option.taken.case
    entry = case.outputs[index]

    def shaped(tensor: TensorCase, shape: tuple[int, ...]) -> TensorCase:
        return tensor.model_copy(update={"shape": shape})

    new: Entry
    if isinstance(entry, tuple):
        new = tuple(shaped(entry[0], s) for s in (shapes if shapes[1:] else shapes * len(entry)))
    else:
        new = shaped(entry, shapes[0])
    outputs = (*case.outputs[:index], new, *case.outputs[index + 1 :])
    changed = case.model_copy(update={"outputs": outputs})
    asked = option.taken.asked.model_copy(update={"outputs": outputs})
    return replace(option, taken=replace(option.taken, case=changed, asked=asked))


def _as_a_result(option: Option, index: int, written: int) -> Option | None:
    """The same where the output was given the shape of the first input, as the host side that a
    generator writes does for any operator, and what is written has the shape of a result."""
    if not _as_first_input(option, index):
        return None
    other = _with_output(option, index, written)
    if other is None:
        return None
    shape = _shape(other.taken.case.outputs[index])
    return other if shape in ((1,), *_likely(option)) else None


def _as_another_input(option: Option, index: int) -> Option | None:
    """The case with an output as long as the next longer input, where it was as the first one; a
    list is as long as the next longer list."""
    if not _as_first_input(option, index):
        return None
    case, now = option.taken.case, prod(_shape(option.taken.case.outputs[index]))
    if isinstance(case.outputs[index], tuple):
        lists = [[t.shape for t in one] for one in case.inputs if isinstance(one, tuple) and one]
        wider = next((many for many in lists if prod(many[0]) > now), [])
        return _with_shape(option, index, *wider) if wider else None
    longer = [t.shape for t in inputs_of(case) if t.present and prod(t.shape) > now]
    return _with_shape(option, index, min(longer, key=prod)) if longer else None


def _as_first_input(option: Option, index: int) -> bool:
    tensors = inputs_of(option.taken.case)
    return bool(tensors) and _shape(option.taken.case.outputs[index]) == tensors[0].shape


def _shape(entry: Entry) -> tuple[int, ...]:
    """The shape of an output, of a list the first one's."""
    one = (entry[0] if entry else None) if isinstance(entry, tuple) else entry
    return one.shape if one is not None else ()


def _likely(option: Option) -> Iterator[tuple[int, ...]]:
    """Shapes that outputs have: those of inputs, and of sums over one of their ends."""
    for tensor in inputs_of(option.taken.case):
        shape = tensor.shape
        yield from (shape, (*shape[:-1], 1), shape[:-1], shape[1:], shape[-1:], shape[:1])
