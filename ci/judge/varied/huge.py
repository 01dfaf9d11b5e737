"""Cases of gibibytes, of which nobody draws or computes anything: only addresses are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from ci.judge.reference import References
from ci.judge.varied.axes import Axis, axes
from ci.judge.varied.base import Known, elements
from ci.model.errors import InputError, TrialFailure
from ci.model.launch import Array, Tensor, Tensors, arrays
from ci.model.workload import WorkloadCase

GOALS: Final = (5 << 29, 5 << 31)
"""Bytes of the largest tensor, at least: offsets of 32 bits with a sign end at four fifths of the
one; at four fifths of the other end those without, and with a sign the numbers of elements of four
bytes. The last fifth is there because offsets at which a core begins wrap later than the end."""

MOST_BYTES: Final = 1 << 40
"""No tensor of a case is larger: another may grow with the square of a length."""

MOST_AXES = 2
"""Dimensions that are made so long, one at a time."""

MOST_BASES = 2
"""Cases that are made so large: the smallest of each choice of dtypes."""


@dataclass(frozen=True)
class Huge:
    """A case with arrays that take no memory and give sizes only."""

    case: WorkloadCase
    inputs: Tensors
    outputs: Tensors
    near: WorkloadCase
    """The case that it was made from."""


def huge_cases(
    known: Known, references: References, most_elements: int = GOALS[-1]
) -> Iterator[Huge]:
    """The workload's smallest cases, one dimension at a time so long that a tensor has `GOALS`, or
    just over `most_elements` where these take less."""
    bases: dict[tuple[str, ...], WorkloadCase] = {}
    for case in sorted(known.workload.cases, key=elements):
        dtypes = tuple(t.dtype for e in case.inputs for t in (e if isinstance(e, tuple) else (e,)))
        bases.setdefault(dtypes, case)
    for case in [*bases.values()][:MOST_BASES]:
        for number, axis in enumerate(axes(known, case)):
            if number == MOST_AXES:
                break
            for goal in GOALS[: MOST_AXES - number]:  # the largest costs most
                found = _grown(known, references, axis, goal, most_elements)
                if found is not None:
                    yield found


def _grown(
    known: Known, references: References, axis: Axis, goal: int, most_elements: int
) -> Huge | None:
    """The case with the dimension so long that the largest tensor has `goal` bytes, or just over
    `most_elements`.

    The golden function shows how outputs grow, from the case with one step more.
    """
    seed = known.workload.seeds[0]
    try:
        short = references.of(axis.case, seed)
        more = references.of(axis.resized(known, axis.length + axis.step), seed)
    except (InputError, TrialFailure):
        return None
    grows = max(
        (b.nbytes - a.nbytes, a.nbytes, a.itemsize)
        for a, b in zip(
            arrays((*short.inputs, *short.outputs)),
            arrays((*more.inputs, *more.outputs)),
            strict=True,
        )
    )
    if grows[0] <= 0:
        return None
    steps = (min(goal, most_elements * grows[2]) - grows[1]) // grows[0] + 3
    case = axis.resized(known, axis.length + int(steps) * axis.step)

    def far(near: Tensor, next_one: Tensor) -> Tensor:
        if near is None or next_one is None:
            return None
        if isinstance(near, list) and isinstance(next_one, list):
            pairs = zip(near, next_one, strict=True)
            return [_sized(a, b, int(steps)) for a, b in pairs]
        assert isinstance(near, np.ndarray) and isinstance(next_one, np.ndarray)
        return _sized(near, next_one, int(steps))

    try:
        inputs = [far(a, b) for a, b in zip(short.inputs, more.inputs, strict=True)]
        outputs = [far(a, b) for a, b in zip(short.outputs, more.outputs, strict=True)]
    except OverflowError:
        return None
    return Huge(case, inputs, outputs, axis.case)


def _sized(near: Array, next_one: Array, steps: int) -> Array:
    """An array as far on as `steps` times the way between the two; it takes no memory. Raises
    OverflowError where it would have more than `MOST_BYTES`."""
    shape = tuple(a + steps * (b - a) for a, b in zip(near.shape, next_one.shape, strict=True))
    if prod(shape) * near.itemsize > MOST_BYTES:
        raise OverflowError
    return np.broadcast_to(np.zeros((), near.dtype), shape)
