"""Large cases made small, one for each way that the host side treats their kind.

What is varied of a case with millions of elements costs seconds each time. The host side says for
next to nothing how it would treat a shorter case: the smallest of each regime stands for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ci.judge.varied.axes import Axis, places_of
from ci.judge.varied.base import Known, elements
from ci.model.workload import WorkloadCase

Regime: TypeAlias = tuple[int, str]
"""The tiling key, and whether one core, some or as many as the chip has are launched."""

MOST_LENGTHS = 48
"""Lengths of one dimension that the host side is asked about."""


@dataclass(frozen=True)
class Answered:
    """What the host side says of a case."""

    tiling_key: int
    block_dim: int

    def regime(self, cores: int) -> Regime:
        """Its regime on a chip of so many cores."""
        share = "one core" if self.block_dim == 1 else "some cores"
        return self.tiling_key, "all cores" if self.block_dim >= cores else share


Ask: TypeAlias = Callable[[Sequence[WorkloadCase]], list[Answered | None]]
"""What the host side of the unmodified operator says; None where it refuses."""


def smallest(known: Known, case: WorkloadCase, ask: Ask) -> dict[Regime, WorkloadCase]:
    """The smallest case of each regime that a large one has along its dimensions."""
    found: dict[Regime, WorkloadCase] = {}
    lengths = [made for axis in _axes(known, case) for made in _shorter(known, axis)]
    for made, answer in zip(lengths, ask(lengths), strict=True):
        if answer is None:
            continue
        regime = answer.regime(known.cores)
        if regime not in found or elements(made) < elements(found[regime]):
            found[regime] = made
    return found


def _axes(known: Known, case: WorkloadCase) -> Iterator[Axis]:
    for places, length in places_of(known, case):
        if length > 1:
            yield Axis(case, places, length)


def _shorter(known: Known, axis: Axis) -> Iterator[WorkloadCase]:
    """Powers of two below the length, parts of it, and lengths that are no multiple of much."""
    length, seen = axis.length, set[int]()
    powers = [1 << bit for bit in range(length.bit_length())]
    parts = [length // part for part in (2, 3, 4, 8, 16, 64, 256)]
    odd = [power + 1 for power in powers] + [power + 8 for power in powers]
    for wanted in sorted({*powers, *parts, *odd})[:MOST_LENGTHS]:
        if 0 < wanted < length and wanted not in seen:
            seen.add(wanted)
            yield axis.resized(known, wanted)
