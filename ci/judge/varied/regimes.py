"""Regimes: the ways in which the host side of an operator treats inputs, and cases of each.

A launch of millions of elements costs seconds; the host side says for next to nothing how it would
cut a shorter case. Whatever it decides otherwise, by size, dtype, attribute or list, is a regime,
and one small case of each stands for all that are treated so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import TypeAlias

from ci.judge.varied.axes import Axis, untried_axes
from ci.judge.varied.base import Known, elements, in_turns
from ci.judge.varied.counts import counts
from ci.judge.varied.structure import Dtypes, ListLengths, Presence
from ci.judge.varied.values import Attributes
from ci.model.workload import Entry, WorkloadCase

MOST_LENGTHS = 48
"""Lengths of one dimension that the host side is asked about."""

MOST_BASES = 8
"""Small cases whose other dimensions, attributes, dtypes and lists are asked about, too."""

MOST_NUMBERS = 6
"""Numbers of one case's tiling data, the largest, that are taken for what a tile or a core has, and
as many that follow from them."""

MOST_PARTS = 64
"""A number up to it may be how many parts another one is cut into."""

MOST_WHOLE = 1000
"""Cases of whole tiles that the host side is asked about."""

TIMES = (2, 1, 3)
"""Tiles that a core then has, with nothing left over."""

MOST_VARIANTS = 64
"""Variants of each of them."""

VARIANTS = (Attributes(), Dtypes(), ListLengths(), Presence())
"""What the host side may treat otherwise besides lengths."""


@dataclass(frozen=True)
class Answered:
    """What the host side says of a case."""

    tiling_key: int
    block_dim: int
    pattern: str
    """Which fields of its tiling data are 0, 1 and more: no tail or one, one tile or several."""
    outputs: int | None = None
    """Elements of all outputs, as InferShape says; None where it does not."""


@dataclass(frozen=True, order=True)
class Regime:
    """One way in which the host side treats inputs."""

    tiling_key: int
    dtypes: tuple[str, ...]
    cores: str
    pattern: str

    @property
    def rough(self) -> Regime:
        """Without what tiling data say of tiles and tails."""
        return replace(self, pattern="")

    @property
    def fields(self) -> frozenset[tuple[int, tuple[str, ...], int, str]]:
        """What each field of the tiling data is, of this key and these dtypes."""
        every = enumerate(self.pattern.split())
        return frozenset((self.tiling_key, self.dtypes, place, what) for place, what in every)

    def __str__(self) -> str:
        dtypes = ", ".join(dict.fromkeys(filter(None, self.dtypes))) or "no input"
        return f"{dtypes}, tiling key {self.tiling_key}, {self.cores}"


Ask: TypeAlias = Callable[[Sequence[WorkloadCase]], list[Answered | None]]
"""What the host side of the unmodified operator says; None where it refuses."""

Regimes: TypeAlias = dict[Regime, list[WorkloadCase]]
"""Cases of each regime, those of fewer elements first."""


def regimes_of(known: Known, ask: Ask, most: float) -> Regimes:
    """The regimes that are found near the workload's cases, with cases of up to `most` elements.

    First along each dimension and number that an output is as long as; then, from the smallest case
    of each that was found, along the other dimensions and by `VARIANTS`; then to whole tiles, as
    far as a field of the tiling data is there what it was nowhere else.
    """
    found: Regimes = {}
    own = known.workload.cases
    longer = [*_up_to(most, _lengths(known, own, most)), *_counted(known, own)]
    _sort(known, found, ask, [*own, *longer])
    bases = [cases[0] for cases in rough_regimes(found).values()][:MOST_BASES]
    near = replace(known, workload=known.workload.model_copy(update={"cases": tuple(bases)}))
    _sort(known, found, ask, _up_to(most, [*_lengths(near, bases, most), *_variants(near)]))
    every = [cases[0] for cases in rough_regimes(found).values()]
    whole = in_turns(_whole_tiles(known, case) for case in every)
    cut: Regimes = {}
    _sort(known, cut, ask, islice(_up_to(most, whole), MOST_WHOLE))
    seen = {field for regime in found for field in regime.fields}
    for regime, cases in cut.items():
        if regime in found or not seen.issuperset(regime.fields):
            found[regime] = sorted([*found.get(regime, ()), *cases], key=elements)
            seen |= regime.fields
    return found


def rough_regimes(found: Regimes) -> Regimes:
    """Regimes of like dtypes, tiling key and share of the cores as one, cases in the same order."""
    rough: Regimes = {}
    for regime, cases in found.items():
        rough.setdefault(regime.rough, []).extend(cases)
    for row in rough.values():
        row.sort(key=elements)
    return rough


def _up_to(most: float, cases: Iterable[WorkloadCase]) -> Iterator[WorkloadCase]:
    return (case for case in cases if elements(case) <= most)


def _sort(known: Known, found: Regimes, ask: Ask, cases: Iterable[WorkloadCase]) -> None:
    asked = list({case.name: case for case in cases}.values())
    for case, answer in zip(asked, ask(asked), strict=True):
        if answer is None:
            continue
        share = "one core" if answer.block_dim == 1 else "some of the cores"
        regime = Regime(
            answer.tiling_key,
            tuple(_dtype(entry) for entry in case.inputs),
            "all cores" if answer.block_dim >= known.cores else share,
            answer.pattern,
        )
        found.setdefault(regime, []).append(case)
    for row in found.values():
        row.sort(key=elements)


def _dtype(entry: Entry) -> str:
    """The dtype of an input; of a list, of any length, those that occur; '' for an absent one."""
    every = entry if isinstance(entry, tuple) else (entry,)
    return " and ".join(sorted({t.dtype for t in every if t.present}))


def _lengths(known: Known, cases: Sequence[WorkloadCase], most: float) -> Iterator[WorkloadCase]:
    for case in cases:
        size = max(1, elements(case))
        for axis in untried_axes(known, case):
            if axis.length:
                yield from _resized(known, axis, most / size)


def _whole_tiles(known: Known, case: WorkloadCase) -> Iterator[WorkloadCase]:
    """Cases that are cut into whole tiles, of one core or of all: what a tile has is a number of
    the tiling data, and no power of two where as much as fits is taken."""
    numbers = known.numbers_of(case)
    tiles = [*_parts(numbers), *sorted(numbers)[: -MOST_NUMBERS - 1 : -1]]
    shares = [n * many for m in TIMES for n in tiles for many in (m * known.cores, m)]
    for count in counts(known, case):
        yield from count.cases(share for share in shares if share <= count.most)
    for axis in untried_axes(known, case):
        row = elements(case) // max(1, axis.length)
        parts = [share // row for share in shares if row > 1 and share % row == 0]
        for other in dict.fromkeys((*parts, *shares)):
            if other != axis.length:
                yield axis.resized(known, other)


def _parts(numbers: frozenset[int]) -> list[int]:
    """What numbers are cut into as others say: 13,120 in 2 parts, the last of which has 4,928, is
    cut into parts of 8,192. Those first that follow from several."""
    found: Counter[int] = Counter()
    few = sorted(n for n in numbers if n <= MOST_PARTS)
    for rest, whole in combinations(sorted(numbers)[-2 * MOST_NUMBERS :], 2):
        for parts in {1, *(n - 1 for n in few), *few}:
            if (whole - rest) % parts == 0:
                part = (whole - rest) // parts
                if rest < part < whole and part not in numbers:
                    found[part] += 1
    return [part for part, _ in found.most_common(MOST_NUMBERS)]


def _counted(known: Known, cases: Sequence[WorkloadCase]) -> Iterator[WorkloadCase]:
    for case in cases:
        for count in counts(known, case):
            yield from count.cases(_other_lengths(count.value, count.most + 1))


def _resized(known: Known, axis: Axis, times: float) -> Iterator[WorkloadCase]:
    for length in _other_lengths(axis.length, axis.length * max(times, 1.0)):
        yield axis.resized(known, length)


def _other_lengths(length: int, end: float) -> Iterator[int]:
    """Powers of two below an end, lengths next to them, and parts of the length."""
    powers = [1 << bit for bit in range(int(end).bit_length())]
    parts = [length // part for part in (2, 3, 4, 8, 16, 64, 256)]
    near = [power + more for power in powers for more in (1, 8)]
    wanted = sorted({*powers, *parts, *near} - {0, length})
    if len(wanted) > MOST_LENGTHS:
        wanted = wanted[:: -(-len(wanted) // MOST_LENGTHS)]
    yield from (other for other in wanted if other < end)


def _variants(known: Known) -> Iterator[WorkloadCase]:
    count = MOST_VARIANTS * max(1, len(known.workload.cases))
    for family in VARIANTS:
        for ladder in islice(family.ladders(known), count):
            yield from islice(ladder, 1)
