"""Many lengths of each dimension, and values of each attribute, that only the host side is asked
about.

A tiling divides by what is left of rows or columns when the cores have theirs, by a tile's length,
by a number of tiles: one of a thousand lengths makes one of them 0, and the process ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

import numpy as np

from ci.backend.tiled import TiledBuild
from ci.judge.gate_subject import Standard
from ci.judge.varied.axes import untried_axes
from ci.judge.varied.base import Known, elements
from ci.judge.varied.knobs import attribute_knobs
from ci.judge.varied.related_lengths import lengths_part
from ci.judge.varied_sweep import known_of
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source.inputs import draw_inputs

MOST_BASES: Final = 4
"""Cases that are lengthened, the smallest ones."""

MOST_ASKED: Final = 4000
"""Cases that are asked about; a host side answers about a thousand a second."""

SMALL: Final = 40
"""Every length up to it is asked about."""

BLOCKS: Final = tuple(1 << bit for bit in range(11))
"""Elements that a core may be given at a time."""

MOST_READ: Final = 8
"""Integers of a tensor of which one is made -1; longer ones are data."""

LARGEST: Final = 1 << 26
"""Elements of the inputs of a case that is asked about."""


def lengthened(standard: Standard, own: Sequence[WorkloadCase]) -> list[WorkloadCase]:
    """Cases of other lengths than the `own` ones that they are made from, which nobody launches;
    only such whose inputs still fit together."""
    known = known_of(standard, _Unlaunched(standard.workload))
    bases = sorted(own, key=elements)[:MOST_BASES]
    every = chain(_below_zero(standard, bases), _cases(known, own, bases))
    made = {case.name: case for case in islice(every, MOST_ASKED)}
    return [*made.values()]


def _below_zero(standard: Standard, bases: Sequence[WorkloadCase]) -> Iterator[WorkloadCase]:
    """Cases in which one integer that the host side reads of a short tensor is -1: of an axis, that
    is the last one."""
    build, inputs = standard.references.unmodified, standard.operator.inputs
    if not isinstance(build, TiledBuild):
        return
    read = [n for n, spec in enumerate(inputs) if spec.name in build.value_inputs]
    for case in bases:
        drawn = draw_inputs(case, standard.workload.seeds[0], read)
        for n in (n for n in read if n < len(drawn)):
            entry, array = case.inputs[n], drawn[n]
            if not isinstance(entry, TensorCase) or not isinstance(array, np.ndarray):
                continue
            if array.dtype.kind != "i" or array.size > MOST_READ:
                continue
            for place in range(array.size):
                values = [*map(int, array.ravel())]
                values[place] = -1
                tensor = entry.model_copy(update={"values": tuple(values)})
                name = f"{case.name} with {values} as {inputs[n].name}"
                entries = (*case.inputs[:n], tensor, *case.inputs[n + 1 :])
                yield case.model_copy(update={"name": name, "inputs": entries})


@dataclass
class _Unlaunched:
    """Makes cases of a workload that the operator may fail on, and launches none."""

    workload: Workload

    def takes(self, case: WorkloadCase) -> bool:
        return False


def _cases(
    known: Known, own: Sequence[WorkloadCase], bases: Sequence[WorkloadCase]
) -> Iterator[WorkloadCase]:
    lengths = [*_lengths(known)]
    for case in bases:
        for axis in untried_axes(known, case):
            others = (other for other in lengths if other != axis.length)
            for longer in (axis.resized(known, other) for other in others):
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
