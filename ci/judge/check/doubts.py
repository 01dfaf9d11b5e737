"""Varied cases that an operator may not be made for, where no golden function says so."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ci.backend.tiled import TiledBuild
from ci.judge.check.host_state import as_inferred
from ci.judge.gate_subject import Standard
from ci.judge.host_regimes import outputs_of
from ci.judge.launch_record import Launched
from ci.judge.reference import declared_outputs
from ci.judge.varied.base import input_count, tensors
from ci.judge.varied.lengths import Empty
from ci.judge.varied.related_lengths import counted_otherwise, lengths_part, parted_pairs
from ci.judge.varied.values import Exact, Ranges
from ci.model.dtypes import BY_NAME
from ci.model.errors import InputError, TrialFailure
from ci.model.launch import Tensors, arrays
from ci.model.trial import Refusal
from ci.model.workload import AttrValue, TensorCase, WorkloadCase
from ci.source.inputs import draw_inputs

OTHERS: dict[type, tuple[AttrValue, ...]] = {
    int: (0, 1, 2, -1),
    float: (0.0, 0.5, 2.0, -1.0),
    bool: (False, True),
}
"""Values of an attribute, some of which change the outputs of a golden function that reads it."""


def doubtful(standard: Standard, family: str, case: WorkloadCase) -> bool:
    """Whether nothing says that the operator takes a case, as its inputs no longer fit together,
    are empty, hold integers of another range, or may ask for other outputs than the case has. A
    golden function says so, unless it only repeats an input along another one, or makes nothing
    of an attribute that is varied or no longer says how long an input is."""
    if not family:
        return False
    if standard.workload.golden:
        blind = length_unread(standard, case) or attribute_unread(standard, case)
        return blind or only_repeated(standard, case)
    if unlike(standard.workload.cases, family, case):
        return True
    if any(_agreeing(standard.workload.cases, case)) or _points_elsewhere(standard, case):
        return True
    if counted_otherwise(standard.workload.cases, case):
        return True
    own = [_deciding(standard, known) for known in standard.workload.cases]
    return _deciding(standard, case) not in own and as_inferred(standard, case) is None


def unlaunched(standard: Standard, family: str, case: WorkloadCase) -> bool:
    """Whether a case that is made up has no element of output: interfaces that are made of an op
    definition skip the launch then."""
    if not family:
        return False
    if not standard.workload.golden:
        declared = tensors(case)[input_count(case) :]
        if declared:
            return not any(math.prod(one.shape) for one in declared)
        return outputs_of(standard, [case]) == [0]
    try:
        outputs = arrays(standard.references.of(case, standard.workload.seeds[0]).outputs)
    except (InputError, TrialFailure):
        return False
    return bool(outputs) and not any(one.size for one in outputs)


def input_guessed(standard: Standard, case: WorkloadCase) -> bool:
    """Whether it has an input that the workload leaves out without a shape: which shape it is to
    have was guessed."""
    told = {n for known in standard.workload.cases for n in _shaped(known)}
    return any(n not in told for n in _shaped(case))


def _shaped(case: WorkloadCase) -> list[int]:
    """Which of its inputs, lists apart, have a shape."""
    single = ((n, e) for n, e in enumerate(case.inputs) if isinstance(e, TensorCase))
    return [n for n, one in single if 0 not in one.shape]


def outputs_guessed(standard: Standard, family: str, case: WorkloadCase) -> bool:
    """Whether neither a golden function nor InferShape says how long the outputs of a case of
    other shapes are."""
    if not family or standard.workload.golden:
        return False
    own = [_shapes(known) for known in standard.workload.cases]
    return _shapes(case) not in own and as_inferred(standard, case) is None


def outputs_unread(standard: Standard, case: WorkloadCase) -> bool:
    """Whether the host tiling answers a case as it does with outputs twice as long, none of which
    the kernel gets the shape of."""
    build, operator = standard.references.unmodified, standard.operator
    if not isinstance(build, TiledBuild) or any(
        o.param_type == "dynamic" for o in operator.outputs
    ):
        return False
    try:
        inputs, outputs = (
            draw_inputs(case, standard.workload.seeds[0]),
            declared_outputs(operator, case),
        )
        longer: Tensors = [
            np.zeros(tuple(2 * n for n in one.shape), one.dtype) for one in arrays(outputs)
        ]
        one, other = (build.answer(case, inputs, each) for each in (outputs, longer))
    except (InputError, TrialFailure):
        return False
    return (one.data, one.tiling_key, one.block_dim) == (
        other.data,
        other.tiling_key,
        other.block_dim,
    )


def may_be_unasked(standard: Standard, case: WorkloadCase, refusal: Refusal) -> bool:
    """Whether nothing is wrong with a case but one of several outputs that no byte was written of,
    and an attribute is another, or other inputs are left out, than in every own case: these may
    say which outputs there are to be. A golden function would say it."""
    left = refusal.unwritten
    several = len(standard.operator.outputs) > 1
    if standard.workload.golden or left is None or left.count != left.size or not several:
        return False
    own = [_asks(standard, known) for known in standard.workload.cases]
    return _asks(standard, case) not in own


def _deciding(standard: Standard, case: WorkloadCase) -> tuple[object, ...]:
    """What of a case may decide the shapes of its outputs: values that are given, and attributes;
    not those that are one of its lengths, and become another one with it."""
    lengths = {length for shape in _shapes(case) for length in shape}

    def plain(value: object) -> object:
        if isinstance(value, tuple):
            return tuple(map(plain, value))
        return "length" if type(value) is int and value in lengths else value

    return plain(_attributes(standard, case)), tuple(one.values for one in _inputs(case))


def _asks(standard: Standard, case: WorkloadCase) -> tuple[object, ...]:
    """The attributes of a case and which inputs it has."""
    present = tuple(one.present for one in tensors(case)[: input_count(case)])
    return _attributes(standard, case), present


def _attributes(standard: Standard, case: WorkloadCase) -> tuple[AttrValue | None, ...]:
    return tuple(case.attrs.get(spec.name, spec.default) for spec in standard.operator.attrs)


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


def _points_elsewhere(standard: Standard, case: WorkloadCase) -> bool:
    """Whether an input holds given integers of none of the own cases, which the host side does not
    read and so cannot refuse: they may be indices."""
    for number, (spec, entry) in enumerate(
        zip(standard.operator.inputs, case.inputs, strict=False)
    ):
        own = [known.inputs[number] for known in standard.workload.cases]
        given = [o.values for o in own if isinstance(o, TensorCase) and o.present]
        if isinstance(entry, TensorCase) and entry.present and not spec.value_depend:
            other = entry.values is not None and entry.values not in given
            if other and given and _whole(entry):
                return True
    return False


def only_repeated(standard: Standard, case: WorkloadCase) -> bool:
    """Whether inputs differ in what is equal in all own cases, and the golden function takes them
    because it repeats one along the other: its outputs are the same where that is written out."""
    pairs = [*parted_pairs(standard.workload.cases, case)]
    if not pairs:
        return False
    references = standard.references
    try:
        right = references.of(case, standard.workload.seeds[0])
        each = (entry if isinstance(entry, list) else [entry] for entry in right.inputs)
        flat = [*chain.from_iterable(each)]
        written = [*flat]
        for short, long in (way for pair in pairs for way in (pair, pair[::-1])):
            one, other = written[short], flat[long]
            assert isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
            written[short] = _repeated_along(one, other.shape)
        if all(one is other for one, other in zip(flat, written, strict=True)):
            return False
        left: Iterator[Any] = iter(written)
        inputs: Tensors = [
            [next(left) for _ in entry] if isinstance(entry, list) else next(left)
            for entry in right.inputs
        ]
        made = arrays(references.supposed(case, inputs))
        both = [*zip(arrays(right.outputs), made, strict=True)]
        # Where all outputs grow, it makes as many as the shorter input asks for.
        return any(one.shape == other.shape for one, other in both) and all(
            np.broadcast_to(one, other.shape).tobytes() == other.tobytes() for one, other in both
        )
    except (InputError, TrialFailure, ValueError):
        return False


def _repeated_along(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The array, repeated where it has one and the shape, from the last dimension on, several."""
    kept = array.ndim - min(array.ndim, len(shape))
    pairs = zip(array.shape[kept:], shape[len(shape) - array.ndim + kept :], strict=True)
    longer = (*array.shape[:kept], *(n if n != 1 else other for n, other in pairs))
    return array if longer == array.shape else np.broadcast_to(array, longer).copy()


def length_unread(standard: Standard, case: WorkloadCase) -> bool:
    """Whether an attribute is the length of an input in all own cases and not in this one, and the
    golden function gives the same outputs where it is."""
    references = standard.references
    try:
        right = references.of(case, standard.workload.seeds[0])
        agreeing = _agreeing(standard.workload.cases, case)
        return any(
            _same_bytes(right.outputs, references.supposed(one, right.inputs)) for one in agreeing
        )
    except (InputError, TrialFailure, ValueError):
        return False


def attribute_unread(standard: Standard, case: WorkloadCase) -> bool:
    """Whether an attribute has a value of none of the own cases, and the golden function gives the
    same outputs for theirs and for `OTHERS`."""
    references = standard.references
    for spec in standard.operator.attrs:
        own = [c.attrs.get(spec.name, spec.default) for c in standard.workload.cases]
        value = case.attrs.get(spec.name, spec.default)
        if value in own or type(value) not in OTHERS:
            continue
        given = [v for v in (*own, *OTHERS[type(value)]) if v is not None and v != value]
        changed = (case.model_copy(update={"attrs": {**case.attrs, spec.name: v}}) for v in given)
        try:
            right = references.of(case, standard.workload.seeds[0])
            made = (references.supposed(one, right.inputs) for one in changed)
            if all(_same_bytes(right.outputs, one) for one in made):
                return True
        except (InputError, TrialFailure, ValueError):
            continue
    return False


def _agreeing(own: Sequence[WorkloadCase], case: WorkloadCase) -> Iterator[WorkloadCase]:
    """The case with each attribute in turn that is the length of an input in all of the `own`
    cases and not in this one, as it would have to be."""
    here = _lengths(case)
    for name, value in case.attrs.items():
        given = [(known.attrs.get(name), _lengths(known)) for known in own]
        places = {
            place
            for place in here
            if all(lengths.get(place) == length for length, lengths in given)
            if any(lengths[place] > 1 for _, lengths in given)
        }
        if all(here[place] != value for place in places):
            for length in {here[place] for place in places}:
                yield case.model_copy(update={"attrs": {**case.attrs, name: length}})


def _lengths(case: WorkloadCase) -> dict[tuple[int, int], int]:
    """The lengths of each input, by its number and the dimension, counted from the last one, which
    is 1; 0 is all of its elements."""
    found = {}
    for number, one in enumerate(_inputs(case)):
        found[number, 0] = math.prod(one.shape)
        found |= {(number, d): one.shape[-d] for d in range(1, len(one.shape) + 1)}
    return found


def _same_bytes(one: Tensors, other: Tensors) -> bool:
    same = zip(arrays(one), arrays(other), strict=True)
    return all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in same)


def _whole(one: TensorCase) -> bool:
    dtype = BY_NAME[one.dtype]
    return not (dtype.is_float or dtype.is_complex)


def _shapes(case: WorkloadCase) -> list[tuple[int, ...]]:
    return [one.shape for one in _inputs(case)]


def _inputs(case: WorkloadCase) -> list[TensorCase]:
    return [one for one in tensors(case)[: input_count(case)] if one.present]
