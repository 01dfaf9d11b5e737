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

NEAR_BOUND = 2
"""An integer input whose range ends this near a length holds indices along it."""

Place = tuple[int, int]
"""A tensor's number among `tensors`, and one of its dimensions."""


@dataclass(frozen=True)
class Axis:
    """Dimensions of equal length that change together."""

    case: WorkloadCase
    places: frozenset[Place]
    length: int
    follow: bool = True
    """Whether attributes and ranges of indices that equal the length change with it."""
    step: int = 1

    def resized(self, known: Known, length: int) -> WorkloadCase:
        """The case with another length."""
        changed, ranges = [], []
        for number, tensor in enumerate(tensors(self.case)):
            shape = tuple(
                length if (number, d) in self.places else n for d, n in enumerate(tensor.shape)
            )
            new = tensor.model_copy(update={"shape": shape, "range": self._range(tensor, length)})
            if new.range != tensor.range:
                ranges.append(f" in [{new.range[0]:g}, {new.range[1]:g}]")
            changed.append(new)
        attrs = {name: self._attr(value, length) for name, value in self.case.attrs.items()}
        told = [f" {n}={v}" for n, v in attrs.items() if v != self.case.attrs[n]]
        how = shapes_of(changed[: input_count(self.case)]) + "".join((*ranges, *told))
        return known.free(with_tensors(self.case, how, changed, attrs))

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
        fresh = [places for places in alternatives if places not in seen]
        # What belongs together and is changed alone is mostly refused: that is seen at once.
        steps = (found[-1].step if found else 1, 16) if alone else STEPS
        axis = _probed(known, case, fresh, steps, not alone)
        tried = fresh if axis is None else fresh[: fresh.index(axis.places) + 1]
        seen.update(tried)
        if axis is not None:
            found.append(axis)
            yield axis
        if len(found) == MOST_AXES:
            return


def places_of(known: Known, case: WorkloadCase) -> Iterator[tuple[frozenset[Place], int]]:
    """Sets of dimensions that may belong together, with their length; none of them was tried."""
    seen: set[frozenset[Place]] = set()
    for _, alternatives in _alternatives(known, case):
        for places in alternatives:
            if places not in seen:
                seen.add(places)
                yield places, _length(case, places)


def _probed(
    known: Known,
    case: WorkloadCase,
    alternatives: list[frozenset[Place]],
    steps: tuple[int, ...],
    whole: bool,
) -> Axis | None:
    """The first of the alternatives that grows by a step, with the least step that works. What is
    not passed on the way is noted: of that alternative, else of the last one, the largest."""
    failed: dict[frozenset[Place], list[WorkloadCase]] = {}
    found = None
    for step in steps:
        for places in alternatives:
            axis = Axis(case, places, _length(case, places), step=step)
            longer = axis.length + step
            tried = axis.resized(known, longer)
            if known.takes(tried):
                found = axis
                break
            bound = replace(axis, follow=False)
            other = bound.resized(known, longer)
            if other.name != tried.name and known.takes(other):
                found = bound
                break
            failed.setdefault(places, []).append(tried)
        if found is not None:
            break
    noted = found.places if found else alternatives[-1] if alternatives else frozenset()
    if whole and noted in failed:
        known.probed.setdefault(failed[noted][0].name, tuple(failed[noted]))
    return found


def _alternatives(
    known: Known, case: WorkloadCase
) -> Iterator[tuple[bool, list[frozenset[Place]]]]:
    """Sets of places, several where it is open what belongs to what; whether of one input only."""
    shapes = [t.shape for t in tensors(case)]
    bound = _bound(known, case)
    own = [
        (number, d)
        for number, tensor in enumerate(tensors(case)[: input_count(case)])
        if tensor.present and number not in bound
        for d in range(len(tensor.shape))
    ]
    groups = {place: _equal_everywhere(known, case, place) for place in own}
    for place, group in groups.items():
        number, d = place
        from_right = frozenset(
            (n, e) for n, e in group if e - len(shapes[n]) == d - len(shapes[number])
        )
        from_left = frozenset((n, e) for n, e in group if e == d)
        crowded = len({n for n, _ in group}) < len(group)
        yield False, [from_right, from_left, group] if crowded else [group]
    yield from ((False, [group]) for group in groups.values())
    outputs = range(input_count(case), len(shapes))
    for number, d in own:
        same = {(n, d) for n in outputs if shapes[n] == shapes[number]}
        yield True, [frozenset({(number, d), *same})]


def _equal_everywhere(known: Known, case: WorkloadCase, place: Place) -> frozenset[Place]:
    """Places whose length equals that of `place` in every case of like structure."""
    ranks = [len(t.shape) for t in tensors(case)]
    alike = [
        [t.shape for t in tensors(c)]
        for c in known.workload.cases
        if [len(t.shape) for t in tensors(c)] == ranks
    ] or [[t.shape for t in tensors(case)]]
    number, d = place
    bound = _bound(known, case)
    return frozenset(
        (n, e)
        for n, rank in enumerate(ranks)
        if n not in bound
        for e in range(rank)
        if all(shapes[n][e] == shapes[number][d] for shapes in alike)
    )


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


def _length(case: WorkloadCase, places: frozenset[Place]) -> int:
    number, d = min(places)
    return tensors(case)[number].shape[d]
