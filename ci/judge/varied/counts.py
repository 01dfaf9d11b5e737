"""Numbers that outputs are as long as: an attribute, an item of a list, a given value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ci.judge.varied.base import Family, Known, Ladder, in_turns, tensors, with_tensors
from ci.judge.varied.knobs import Knob, attribute_knobs
from ci.judge.varied.lengths import near_lengths
from ci.model.workload import TensorCase, WorkloadCase

MOST_ITEMS = 8
"""Values of one tensor that are looked at."""

MOST_OUTPUTS = 1 << 21
"""Elements that all outputs of a case may have together."""


@dataclass(frozen=True)
class Count:
    """A whole number of a case; with one more of it, outputs are of another size."""

    value: int
    outputs: int
    """Elements of all outputs."""
    grown: int
    """The same, for one more."""
    turned: Callable[[float], WorkloadCase | None]
    """The case with another value in its place."""

    def cases(self, values: Iterable[int]) -> Iterator[WorkloadCase]:
        """The case with each of the values that is another one."""
        for value in values:
            if value != self.value and (made := self.turned(value)) is not None:
                yield made

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
    free = known.free(case)
    if free.outputs:  # nothing tells how long its outputs would be
        return []
    whole = [knob for knob in (*attribute_knobs(known, case), *_given(known, case)) if knob.whole]
    longer = [(knob, knob.set(knob.value + 1)) for knob in whole]
    numbers = [(knob, made[1]) for knob, made in longer if made is not None]
    now, *grown = known.outputs_of([free, *(made for _, made in numbers)])
    return [
        Count(int(knob.value), now, more, knob.turned)
        for (knob, _), more in zip(numbers, grown, strict=True)
        if now is not None and more is not None and more != now
    ]


def _other(count: Count) -> Iterator[Ladder]:
    wanted = (min(length, count.most) for length in near_lengths(count.value, 1))
    yield from ([*count.cases([length])] for length in dict.fromkeys(wanted))


def _given(known: Known, case: WorkloadCase) -> Iterator[Knob]:
    """Each whole number of the values that are given."""
    own = tensors(case)
    for number, tensor in enumerate(own):
        values = tensor.values if tensor.present else None
        for index, item in enumerate((values or ())[:MOST_ITEMS]):
            if type(item) is not int:
                continue

            def turned(
                value: float, number: int = number, tensor: TensorCase = tensor, index: int = index
            ) -> WorkloadCase:
                values = tensor.values or ()
                new = (*values[:index], int(value), *values[index + 1 :])
                changed = [*own]
                changed[number] = tensor.model_copy(update={"values": new})
                said = ", ".join(map(str, new[:MOST_ITEMS]))
                return known.free(with_tensors(case, f"{said} as tensor {number}", changed))

            yield Knob(f"value {index} of tensor {number}", item, 1, turned)
