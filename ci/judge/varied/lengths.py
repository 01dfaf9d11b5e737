"""Families of shapes of the same rank: longer, shorter, of other proportions, around constants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from math import prod

from ci.judge.varied.axes import Axis, axes
from ci.judge.varied.base import (
    Family,
    Known,
    Ladder,
    elements,
    in_turns,
    input_count,
    tensors,
)
from ci.judge.varied.structure import flattened
from ci.model.workload import WorkloadCase

PRIMES = (97, 1009)
"""Lengths that no tile divides."""

LARGER = (10, 100)

BUSY_ELEMENTS = 1 << 15
"""Busy elements of the largest input for each core: the copies of so many take several launches'
time."""

SWAPPED = 16
"""How many times longer one dimension becomes and how many times shorter another."""

MOST_NUMBERS = 12
"""Constants that sizes are made around."""


class Lengths(Family):
    """Each dimension, together with those it belongs to and alone."""

    name = "length"
    turns = 3

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """10 times and a step more; a step more or less; 100 times; near powers of two; primes."""
        return in_turns(
            in_turns(_of(known, axis) for axis in axes(known, case))
            for case in known.workload.cases
        )


class Larger(Family):
    """So long that every core of the chip has much to do.

    On a workload of small cases few cores are best: they start faster. What leaves the others idle
    whatever the size is called here.
    """

    name = "larger size"

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """The largest cases first, each along a dimension of its largest tensor."""
        for case in sorted(known.workload.cases, key=elements, reverse=True):
            sizes = [prod(tensor.shape) for tensor in tensors(case)[: input_count(case)]]
            largest = sizes.index(max(sizes)) if sizes else 0
            for axis in axes(known, case):
                if axis.length and any(tensor == largest for tensor, _ in axis.every_place):
                    yield _enlarged(known, axis, sizes[largest])
                    break


def _enlarged(known: Known, axis: Axis, size: int) -> Iterator[WorkloadCase]:
    for share in (1, 2, 4, 8, 16):
        times = BUSY_ELEMENTS * known.cores / share / max(1, size)
        if times >= 2:
            yield axis.resized(known, axis.rounded(round(axis.length * times)))


class Proportions(Family):
    """Two dimensions at once, one far longer and one far shorter: few long rows, many short ones.

    A tiling that is right for one proportion can leave cores idle in another.
    """

    name = "proportion"

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """Pairs of dimensions, in both directions."""
        return in_turns(_pairs(known, case) for case in known.workload.cases)


class Thresholds(Family):
    """Sizes at and beyond the numbers that are in the tiling."""

    name = "threshold"

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """A dimension, the elements of a tensor, and those of each core, at and above a number."""
        return _at(known, known.constants)


class OwnThresholds(Family):
    """Sizes at and beyond the numbers that are in the changed lines."""

    name = "threshold of its own"

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """A dimension, the elements of a tensor, and those of each core, at and above a number."""
        return _at(known, known.numbers)


class Empty(Family):
    """Tensors without elements."""

    name = "empty input"

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """Each dimension 0."""
        for case in known.workload.cases:
            for axis in islice(axes(known, case), 3):
                yield [axis.resized(known, 0)]


def near_lengths(old: int, step: int) -> Iterator[int]:
    """Lengths at which something else may happen than at `old`, those that tell most first."""
    power = 1 << max(1, old).bit_length()
    yield from (old * LARGER[0] + step, old + step, old - step, 1, power + step, old * LARGER[1])
    yield from (power - step, *PRIMES, power, old // 2 + 1, old * 3 - 1)


def _of(known: Known, axis: Axis) -> Iterator[Ladder]:
    seen = {axis.length}
    for length in near_lengths(axis.length, axis.step):
        new = axis.rounded(length)
        if new not in seen:
            seen.add(new)
            yield _rungs(known, axis, new)


def _rungs(known: Known, axis: Axis, length: int) -> Iterator[WorkloadCase]:
    """The length, else multiples near it; half as far where it is too large to be launched."""
    for coarser in (axis.step, axis.step * 16):
        rounded = max(coarser, round(length / coarser) * coarser)
        if rounded != axis.length:
            yield axis.resized(known, rounded)
    shorter = axis.rounded(length // 4) + axis.step
    if shorter > 2 * axis.length:
        yield axis.resized(known, shorter)


def _pairs(known: Known, case: WorkloadCase) -> Iterator[Ladder]:
    for one in axes(known, case):
        for other in axes(known, case):
            if one.every_place & other.every_place or one.length < 2:
                continue
            yield [
                grown
                for times in (SWAPPED, SWAPPED * 2, SWAPPED // 4)
                for grown in _swapped(known, one, other, times)
            ]


def _swapped(known: Known, long: Axis, short: Axis, times: int) -> Iterator[WorkloadCase]:
    longer = long.resized(known, long.rounded(long.length * times))
    both = replace(short, case=longer)
    made = both.resized(known, short.rounded(short.length // times))
    yield made


def _at(known: Known, numbers: Iterable[float]) -> Iterator[Ladder]:
    """Numbers and cases in turns: where one number takes many cases, others still have some.

    In one dimension a step is no row: it leaves the last tile with next to nothing.
    """
    whole = [int(n) for n in dict.fromkeys(numbers) if n == int(n) and n > 1][:MOST_NUMBERS]
    cases = known.workload.cases
    flat = [made for case in cases if (made := flattened(known, case)) is not None]
    return in_turns(
        _around(known, case, number) for number in whole for case in (*cases, *flat[:1])
    )


def _around(known: Known, case: WorkloadCase, number: int) -> Iterator[Ladder]:
    size = max((prod(t.shape) for t in tensors(case)), default=0)
    for axis in islice(axes(known, case), 3):
        row = max(1, size // max(1, axis.length))
        for more in (axis.step, 0):
            for wanted in (number * known.cores // row, number // row, number):
                length = axis.rounded(wanted + more)
                if length != axis.length:
                    yield [axis.resized(known, length)]
