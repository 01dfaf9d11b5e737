"""Smaller, larger and odd cases of the same structure, and the same in other dtypes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from math import isqrt

from ci.derive.accepted_cases import MOST_ELEMENTS, all_elements
from ci.derive.host_queries import Asker, Taken
from ci.judge.varied.axes import Axis, axes
from ci.judge.varied.base import Known, elements
from ci.judge.varied.related_lengths import counted_otherwise, lengths_part
from ci.judge.varied.structure import in_other_dtypes
from ci.judge.varied.values import Attributes
from ci.model.operator import Operator
from ci.model.workload import Workload, WorkloadCase

SIZES = (1 << 20, 1 << 18, 1 << 15, 1 << 11)
"""Elements of all inputs together: a few MB as models have them, so many as keep every core busy,
and a few."""

ODD_SIZE = 40_000
"""Elements of a case whose lengths nothing divides."""

MOST_AXES = 3
"""Dimensions of a case that are made longer."""

MOST_ATTRIBUTES = 12
"""Cases with another attribute."""


def grown(operator: Operator, case: WorkloadCase, asker: Asker) -> Iterator[WorkloadCase]:
    """Cases of other sizes that the host tiling may take, with lengths that fit together as those
    of the case do; names tell their shapes."""
    for made in _resized(operator, case, asker):
        if not (lengths_part([case], made) or counted_otherwise([case], made)):
            yield made


def _resized(operator: Operator, case: WorkloadCase, asker: Asker) -> Iterator[WorkloadCase]:
    known = _known(operator, case, asker)
    found = list(islice(axes(known, case), MOST_AXES))
    for size in SIZES:
        for axis in found:
            yield _that_fits(known, asker, axis, axis.rounded(_length(case, axis, size)))
        for one, other in zip(found, found[1:], strict=False):
            yield _both(known, case, one, other, size)
    for axis in found:
        yield _that_fits(known, asker, axis, _odd(_length(case, axis, ODD_SIZE), axis.step))
        yield axis.resized(known, _odd(axis.length, axis.step))


def _that_fits(known: Known, asker: Asker, axis: Axis, length: int) -> WorkloadCase:
    """The case of this length; shorter where its outputs are too large, as those are that grow with
    the square of it."""
    made = axis.resized(known, length)
    (answer,) = asker.ask([made])
    if isinstance(answer, Taken) and (size := all_elements(answer.case)) > MOST_ELEMENTS:
        return axis.resized(known, axis.rounded(int(length * (MOST_ELEMENTS / size) ** 0.5)))
    return made


def with_other_attributes(
    operator: Operator, case: WorkloadCase, asker: Asker
) -> Iterator[WorkloadCase]:
    """The case with one attribute changed."""
    known = _known(operator, case, asker)
    for ladder in islice(Attributes().ladders(known), MOST_ATTRIBUTES):
        yield from islice(ladder, 1)


def in_all_dtypes(operator: Operator, case: WorkloadCase, asker: Asker) -> Iterator[WorkloadCase]:
    """The case, and the same in each other dtype column of the definition."""
    yield case
    yield from in_other_dtypes(_known(operator, case, asker), case)


def _known(operator: Operator, case: WorkloadCase, asker: Asker) -> Known:
    frame = Workload(operator=operator.op_type, cases=(case,), folder=operator.root)
    return Known(operator, frame, asker.takes, inferred=asker.infers(case))


def _length(case: WorkloadCase, axis: Axis, size: int) -> int:
    """The length with which the inputs have about `size` elements."""
    return max(1, round(axis.length * size / max(1, elements(case))))


def _both(known: Known, case: WorkloadCase, one: Axis, other: Axis, size: int) -> WorkloadCase:
    """Two dimensions changed by the same factor."""
    share = isqrt(round(1e6 * size / max(1, elements(case)))) / 1e3
    first = one.resized(known, one.rounded(round(one.length * share)))
    then = replace(other, case=first)
    return then.resized(known, other.rounded(round(other.length * share)))


def _odd(length: int, step: int) -> int:
    """A length near that is an odd multiple of the step that it must keep."""
    times = max(1, length // step)
    return (times + 1 - times % 2 + (2 if times % 4 == 3 else 0)) * step
