"""Numbers that outputs are as long as: an attribute, an item of a list, a given value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from ci.judge.varied.base import Family, Known, Ladder, in_turns, tensors, with_tensors
from ci.judge.varied.lengths import near_lengths
from ci.model.workload import WorkloadCase

MOST_ITEMS = 8
"""Items of one list that are looked at."""

MOST_OUTPUTS = 1 << 21
"""Elements that all outputs of a case may have together."""


Turned: TypeAlias = Callable[[int], WorkloadCase]
"""The case with another value in a number's place."""


@dataclass(frozen=True)
class Count:
    """A whole number of a case; with one more of it, outputs are of another size."""

    value: int
    outputs: int
    """Elements of all outputs."""
    grown: int
    """The same, for one more."""
    turned: Turned

    @property
    def most(self) -> int:
        """The largest value whose outputs are few enough, if they grow as they do at first."""
        growth = max(1, abs(self.grown - self.outputs))
        return self.value + max(0, MOST_OUTPUTS - self.outputs) // growth


class Counts(Family):
    """Numbers that say how long an output is."""

    name = "number that is a length"
    turns = 2

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """Each as lengths are varied: some times as much and a bit more, a bit less, primes."""
        return in_turns(
            _other(count) for case in known.workload.cases for count in counts(known, case)
        )


def counts(known: Known, case: WorkloadCase) -> list[Count]:
    """Return those of a case, as InferShape of the original operator or a golden function says."""
    if known.free(case).outputs:  # nothing tells how long its outputs would be
        return []
    numbers = [*_attributes(known, case), *_given(known, case)]
    free = known.free(case)
    now, *grown = known.outputs_of([free, *(turned(value + 1) for value, turned in numbers)])
    return [
        Count(value, now, more, turned)
        for (value, turned), more in zip(numbers, grown, strict=True)
        if now is not None and more is not None and more != now
    ]


def _other(count: Count) -> Iterator[Ladder]:
    wanted = (min(length, count.most) for length in near_lengths(count.value, 1))
    yield from ([count.turned(length)] for length in dict.fromkeys(wanted) if length != count.value)


def _attributes(known: Known, case: WorkloadCase) -> Iterator[tuple[int, Turned]]:
    for spec in known.operator.attrs:
        now = case.attrs.get(spec.name, spec.default)

        def given(new: Any, name: str = spec.name) -> WorkloadCase:
            attrs = {**case.attrs, name: new}
            said = f"{case.name} with {name}={new}"
            return known.free(case.model_copy(update={"name": said, "attrs": attrs}))

        if type(now) is int:
            yield now, given
        elif isinstance(now, tuple):
            yield from _items(now, given)


def _given(known: Known, case: WorkloadCase) -> Iterator[tuple[int, Turned]]:
    own = tensors(case)
    for number, tensor in enumerate(own):
        if not (tensor.values and tensor.present):
            continue

        def given(new: tuple[Any, ...], number: int = number) -> WorkloadCase:
            changed = [*own]
            changed[number] = own[number].model_copy(update={"values": new})
            said = ", ".join(map(str, new[:MOST_ITEMS]))
            return known.free(with_tensors(case, f"{said} as tensor {number}", changed))

        yield from _items(tensor.values, given)


def _items(
    values: tuple[Any, ...], given: Callable[[tuple[Any, ...]], WorkloadCase]
) -> Iterator[tuple[int, Turned]]:
    for index, item in enumerate(values[:MOST_ITEMS]):
        if type(item) is int:

            def turned(value: int, index: int = index) -> WorkloadCase:
                return given((*values[:index], value, *values[index + 1 :]))

            yield item, turned
