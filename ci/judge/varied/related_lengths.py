"""Which lengths of a case no longer fit together as those of the cases that it was made from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from ci.judge.varied.axes import times_as_long
from ci.judge.varied.base import input_count, tensors
from ci.model.workload import TensorCase, WorkloadCase


def lengths_part(own: Sequence[WorkloadCase], case: WorkloadCase) -> bool:
    """Whether two inputs differ in a dimension, counted from the last one, in which they are equal
    in every one of the `own` cases whose inputs have as many dimensions, or one of which was a
    single element; or in dimensions at two places, where nothing at the one's own place is as long
    as it; or one is no longer as many times as long as the other."""
    return any(parted_pairs(own, case)) or _parted_across(own, case) or _parted_multiples(own, case)


def counted_otherwise(own: Sequence[WorkloadCase], case: WorkloadCase) -> bool:
    """Whether given integers of one input add up to a length of another one in all own cases and
    not in this one: the rows of each batch or group. The last of several may be the whole, too."""
    for number in _given(case):
        alike = [one for one in own if input_count(one) == input_count(case)]
        known = [one for one in alike if number in _given(one)]
        for whole in (_sum_of, _last_of):
            said = [whole(_given(one)[number]) for one in known]
            now = whole(_given(case)[number])
            if not said or now is None or any(n is None or n < 2 for n in said):
                continue
            places = {
                place
                for place in _lengths_by_number(case)
                if place[0] != number
                and all(
                    _lengths_by_number(one).get(place) == n
                    for one, n in zip(known, said, strict=True)
                )
            }
            if places and all(_lengths_by_number(case)[place] != now for place in places):
                return True
    return False


def parted_pairs(own: Sequence[WorkloadCase], case: WorkloadCase) -> Iterator[tuple[int, int]]:
    """The pairs of inputs that differ in what is equal in the own cases that have both, or of which
    one is a single element in all of these, and then neither that nor as long as the other."""
    inputs = _given(case)
    for a, b in combinations(inputs, 2):
        alike = _alike(own, case, a, b)
        for d in range(1, min(len(inputs[a].shape), len(inputs[b].shape)) + 1):
            equal = all(known[a].shape[-d] == known[b].shape[-d] for known in alike)
            single = any(
                inputs[n].shape[-d] != 1 and all(math.prod(known[n].shape) == 1 for known in alike)
                for n in (a, b)
            )
            if alike and inputs[a].shape[-d] != inputs[b].shape[-d] and (equal or single):
                yield a, b
                break


def _parted_across(own: Sequence[WorkloadCase], case: WorkloadCase) -> bool:
    """Whether an input has another length than what alone is as long in another input of every own
    case, at another place: a scale for each channel, say, which is not the last dimension."""
    inputs = _given(case)
    for a, b in permutations(inputs, 2):
        alike = _alike(own, case, a, b)
        if not alike:
            continue
        here, there = (
            {d: [known[n].shape[d] for known in alike] for d in range(-len(inputs[n].shape), 0)}
            for n in (a, b)
        )
        free = [e for e, other in there.items() if here.get(e) != other]
        for d, known in here.items():
            partners = [e for e in free if there[e] == known]
            apart = all(inputs[b].shape[e] != inputs[a].shape[d] for e in partners)
            if partners and there.get(d) != known and max(known) > 1 and apart:
                return True
    return False


def _parted_multiples(own: Sequence[WorkloadCase], case: WorkloadCase) -> bool:
    """Whether an input has 2 to 4 times the length of another one in a dimension of every own case,
    all others being equal, and not in this one."""
    inputs = _given(case)
    for a, b in permutations(inputs, 2):
        alike = _alike(own, case, a, b)
        times = {times_as_long(known[a].shape, known[b].shape) for known in alike}
        if len(times) == 1 and (only := times.pop()) is not None:
            d, many = only
            if inputs[b].shape[d] != inputs[a].shape[d] * many:
                return True
    return False


def _sum_of(one: TensorCase) -> int | None:
    """What the given integers of a tensor add up to."""
    given = _integers(one)
    return sum(given) * (1 if one.each_given else math.prod(one.shape)) if given else None


def _last_of(one: TensorCase) -> int | None:
    """The last of several integers that are given."""
    given = _integers(one)
    return given[-1] if len(given) > 1 else None


def _integers(one: TensorCase) -> list[int]:
    """The integers that are given for a tensor, one where it is for all of its elements."""
    return [value for value in one.values or () if isinstance(value, int)]


def _lengths_by_number(case: WorkloadCase) -> dict[tuple[int, int], int]:
    """The lengths of each input that is there, by its number and the dimension."""
    return {(n, d): length for n, t in _given(case).items() for d, length in enumerate(t.shape)}


def _given(case: WorkloadCase) -> dict[int, TensorCase]:
    """Its inputs that are there, by number."""
    inputs = enumerate(tensors(case)[: input_count(case)])
    return {number: one for number, one in inputs if one.present}


def _alike(
    own: Sequence[WorkloadCase], case: WorkloadCase, a: int, b: int
) -> list[dict[int, TensorCase]]:
    """The inputs of the own cases that have both, of as many dimensions, and lists as long; none
    where a value is given for each element of one."""
    ranks = [len(_given(case)[n].shape) for n in (a, b)]
    known = [_given(one) for one in own if input_count(one) == input_count(case)]
    both = [one for one in known if [len(one[n].shape) for n in (a, b) if n in one] == ranks]
    return [one for one in both if not (one[a].each_given or one[b].each_given)]
