"""Lengths that the host side alone is asked about: of each dimension of a case, and of
each attribute that may be one, very many.

A tiling divides by what is left of rows or columns when the cores have theirs, by a tile's length,
by a number of tiles: one of a thousand lengths makes one of them 0, and the process ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ci.judge.check.doubts import lengths_part
from ci.judge.gate_subject import Standard
from ci.judge.varied.axes import Axis, places_of
from ci.judge.varied.base import Known, elements
from ci.judge.varied.knobs import attribute_knobs
from ci.judge.varied_sweep import known_of
from ci.model.workload import Workload, WorkloadCase

MOST_BASES: Final = 4
"""Cases that are lengthened, the smallest ones."""

MOST_ASKED: Final = 4000
"""Cases that are asked about; a host side answers about a thousand a second."""

SMALL: Final = 40
"""Every length up to it is asked about."""

BLOCKS: Final = tuple(1 << bit for bit in range(11))
"""Elements that a core may be given at a time."""

LARGEST: Final = 1 << 26
"""Elements of the inputs of a case that is asked about."""


def lengthened(standard: Standard, own: Sequence[WorkloadCase]) -> list[WorkloadCase]:
    """Cases of other lengths than the `own` ones that they are made from, which nobody launches;
    only such whose inputs still fit together."""
    known = known_of(standard, _Unlaunched(standard.workload))
    made = {case.name: case for case in islice(_cases(known, own), MOST_ASKED)}
    return [*made.values()]


@dataclass
class _Unlaunched:
    """Makes cases of a workload that the operator may fail on, and launches none."""

    workload: Workload

    def takes(self, case: WorkloadCase) -> bool:
        return False


def _cases(known: Known, own: Sequence[WorkloadCase]) -> Iterator[WorkloadCase]:
    lengths = [*_lengths(known)]
    for case in sorted(own, key=elements)[:MOST_BASES]:
        for places, length in places_of(known, case):
            axis = Axis(case, places, length)
            for longer in (axis.resized(known, other) for other in lengths if other != length):
                if elements(longer) <= LARGEST and not lengths_part(own, longer):
                    yield longer
        for knob in attribute_knobs(known, case):
            if knob.whole:
                turned = (knob.set(other) for other in lengths)
                yield from (made[1] for made in turned if made is not None)


def _lengths(known: Known) -> Iterator[int]:
    """Short ones, and what each core has the same share of, in blocks of the tiling's numbers."""
    blocks = {*BLOCKS, *(int(n) for n in known.constants if 1 < n <= 4096 and n == int(n))}
    shares = {block * cores for block in blocks for cores in (1, known.cores // 2, known.cores)}
    yield from sorted({*range(1, SMALL + 1), *shares, *(16 * n for n in range(1, SMALL + 1))})
