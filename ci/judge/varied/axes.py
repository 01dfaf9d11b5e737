"""The dimensions of a case that can be changed: which belong together, and in what steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, repeat

from ci.judge.varied.base import Known, input_count, shapes_of, tensors, with_tensors
from ci.model.dtypes import BY_NAME
from ci.model.workload import AttrValue, TensorCase, WorkloadCase

STEPS = (1, 8, 16, 32, 64)
"""Multiples that an operator may want a length to be of; the smallest that it takes is kept."""

MOST_AXES = 8
"""Most axes of one case: a list of many tensors has no more to tell."""

MOST_TIMES = 4
"""A dimension may be twice as long as that of another input, as the halves of a gated unit are,
three times (query, key and value) or four times (the gates of an LSTM)."""

NEAR_BOUND = 2
"""An integer input whose range ends this near a length holds indices along it."""

Place = tuple[int, int]
"""A tensor's number among `tensors`, and one of its dimensions."""


@dataclass(frozen=True)
class Axis:
    """Dimensions of equal length that change together, and those that are a multiple of it."""

    case: WorkloadCase
    places: frozenset[Place]
    length: int
    multiples: frozenset[tuple[Place, int]] = frozenset()
    """Dimensions that are so many times as long."""
    follow: bool = True
    """Whether attributes and ranges of indices that equal the length change with it."""
    step: int = 1

    def resized(self, known: Known, length: int) -> WorkloadCase:
        """The case with another length."""
        changed, ranges = [], []
        lengths = dict.fromkeys(self.places, length)
        lengths |= {place: length * times for place, times in self.multiples}
        for number, tensor in enumerate(tensors(self.case)):
            shape = tuple(lengths.get((number, d), n) for d, n in enumerate(tensor.shape))
            new = tensor.model_copy(update={"shape": shape, "range": self._range(tensor, length)})
            if new.range != tensor.range:
                ranges.append(f" in [{new.range[0]:g}, {new.range[1]:g}]")
            changed.append(new)
        attrs = {name: self._attr(value, length) for name, value in self.case.attrs.items()}
        told = [f" {n}={v}" for n, v in attrs.items() if v != self.case.attrs[n]]
        how = shapes_of(changed[: input_count(self.case)]) + "".join((*ranges, *told))
        return known.free(with_tensors(self.case, how, changed, attrs))

    @property
    def every_place(self) -> frozenset[Place]:
        """The dimensions that change with its length."""
        return self.places | {place for place, _ in self.multiples}

    def rounded(self, length: int) -> int:
        """The nearest length that keeps the step; not below one step."""
        return max(self.step, round(length / self.step) * self.step)

    def _range(self, tensor: TensorCase, length: int) -> tuple[float, float]:
        dtype = BY_NAME.get(tensor.dtype)
        whole = dtype and not (dtype.is_float or dtype.is_complex or dtype.name == "bool")
        if not (self.follow and whole and tensor.values is None):
            return tensor.range
        low, high = tensor.range
        more = length - self.length
        if abs(high - self.length) <= NEAR_BOUND:
            high += more
        if abs(low + self.length) <= NEAR_BOUND:
            low -= more
        return low, max(low, high)

    def _attr(self, value: AttrValue, length: int) -> AttrValue:
        if not self.follow or self.length <= 1:
            return value
        if isinstance(value, tuple):
            return tuple(length if v == self.length else v for v in value)
        return length if type(value) is int and value == self.length else value


def axes(known: Known, case: WorkloadCase) -> Iterator[Axis]:
    """The changeable dimensions of a case, those that tensors share first.

    Each of them was tried: the unmodified operator takes it longer by one step.
    """
    seen: set[frozenset[Place]] = set()
    found: list[Axis] = []
    for alone, alternatives in _alternatives(known, case):
        fresh = [axis for axis in alternatives if axis.every_place not in seen]
        # What belongs together and is changed alone is mostly refused: that is seen at once.
        steps = (found[-1].step if found else 1, 16) if alone else STEPS
        tried, axis = _probed(known, fresh, steps, not alone)
        seen.update(one.every_place for one in tried)
        if axis is not None:
            found.append(axis)
            yield axis
        if len(found) == MOST_AXES:
            return


def untried_axes(known: Known, case: WorkloadCase) -> Iterator[Axis]:
    """Sets of dimensions that may belong together; none of them was tried."""
    seen: set[frozenset[Place]] = set()
    for _, alternatives in _alternatives(known, case):
        for axis in alternatives:
            if axis.every_place not in seen:
                seen.add(axis.every_place)
                yield axis


def _probed(
    known: Known, alternatives: list[Axis], steps: tuple[int, ...], whole: bool
) -> tuple[list[Axis], Axis | None]:
    """The first of the alternatives that grows by a step, with the least step that works, and those
    up to it. What is not passed on the way is noted: of that alternative, else of the last one, the
    largest."""
    failed: dict[int, list[WorkloadCase]] = {}
    found = None
    at = len(alternatives) - 1
    for step in steps:
        for number, alternative in enumerate(alternatives):
            axis = replace(alternative, step=step)
            longer = axis.length + step
            tried = axis.resized(known, longer)
            if known.takes(tried):
                found = axis
            else:
                bound = replace(axis, follow=False)
                other = bound.resized(known, longer)
                if other.name != tried.name and known.takes(other):
                    found = bound
            if found is not None:
                at = number
                break
            failed.setdefault(number, []).append(tried)
        if found is not None:
            break
    if whole and at in failed:
        known.probed.setdefault(failed[at][0].name, tuple(failed[at]))
    return alternatives[: at + 1], found


def _alternatives(known: Known, case: WorkloadCase) -> Iterator[tuple[bool, list[Axis]]]:
    """Sets of places, several where it is open what belongs to what; whether of one input only."""
    shapes = [t.shape for t in tensors(case)]
    bound = _bound(known, case)
    own = [
        (number, d)
        for number, tensor in enumerate(tensors(case)[: input_count(case)])
        if tensor.present and number not in bound
        for d in range(len(tensor.shape))
    ]
    alike = _alike(known, case)

    def axis(places: frozenset[Place]) -> Axis:
        number, d = min(places)
        return Axis(case, places, shapes[number][d])

    groups = {place: _equal_everywhere(alike, place, bound) for place in own}
    for place, group in groups.items():
        number, d = place
        multiples = _multiples(alike, place, group, bound)
        joint = [replace(axis(group), multiples=multiples)] if multiples else []
        from_right = frozenset(
            (n, e) for n, e in group if e - len(shapes[n]) == d - len(shapes[number])
        )
        from_left = frozenset((n, e) for n, e in group if e == d)
        crowded = len({n for n, _ in group}) < len(group)
        equal = [from_right, from_left, group] if crowded else [group]
        yield False, [*joint, *map(axis, equal)]
    yield from ((False, [axis(group)]) for group in groups.values())
    outputs = range(input_count(case), len(shapes))
    for number, d in own:
        same = {(n, d) for n in outputs if shapes[n] == shapes[number]}
        yield True, [axis(frozenset({(number, d), *same}))]


def _alike(known: Known, case: WorkloadCase) -> list[list[tuple[int, ...]]]:
    """The shapes of the tensors of every case of like structure."""
    ranks = [len(t.shape) for t in tensors(case)]
    every = ([t.shape for t in tensors(one)] for one in (*known.workload.cases, case))
    return [shapes for shapes in every if [*map(len, shapes)] == ranks]


def _equal_everywhere(
    alike: list[list[tuple[int, ...]]], place: Place, bound: set[int]
) -> frozenset[Place]:
    """Places whose length equals that of `place` in all `alike` shapes."""
    number, d = place
    return frozenset(
        (n, e)
        for n, shape in enumerate(alike[0])
        if n not in bound
        for e in range(len(shape))
        if all(shapes[n][e] == shapes[number][d] for shapes in alike)
    )


def _multiples(
    alike: list[list[tuple[int, ...]]], place: Place, group: frozenset[Place], bound: set[int]
) -> frozenset[tuple[Place, int]]:
    """Places of tensors whose shapes are that of the place's tensor, but for one dimension that is
    as many times as long in all `alike` shapes."""
    number, d = place
    found = set()
    for n in {*range(len(alike[0]))} - bound - {number}:
        times = {times_as_long(shapes[number], shapes[n]) for shapes in alike}
        if len(times) == 1 and (only := times.pop()) is not None and only[0] == d:
            found.add(((n, d), only[1]))
    return frozenset(found)


def times_as_long(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, int] | None:
    """The one dimension in which two shapes of several differ and how many times, 2 to 4, as long
    the other is there; None where that is not so."""
    apart = [d for d, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    if len(one) != len(other) or len(one) < 2 or len(apart) != 1:
        return None
    (d,) = apart
    times = next((k for k in range(2, MOST_TIMES + 1) if one[d] * k == other[d] > k), None)
    return None if times is None else (d, times)


def _bound(known: Known, case: WorkloadCase) -> set[int]:
    """Tensors whose lengths do not change: a value is given for each of their elements, or the
    host side reads their values."""
    read = [
        spec.value_depend
        for spec, entry in zip(known.operator.inputs, case.inputs, strict=False)
        for _ in (entry if isinstance(entry, tuple) else (entry,))
    ]
    given = enumerate(zip(tensors(case), chain(read, repeat(False)), strict=False))
    return {n for n, (t, host) in given if t.each_given or (t.values is not None and host)}
