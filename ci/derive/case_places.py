"""Where a case has a number that a host tiling compared, and the case with another one there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from ci.model.dtypes import BY_NAME
from ci.model.operator import Operator
from ci.model.workload import AttrValue, Entry, TensorCase, WorkloadCase

MOST_RANK = 8
MOST_LENGTH = 1 << 20
"""The longest dimension; a number beyond it in a comparison is no length."""

_FACTORS = (2, 3, 4, 8, 16, 32, 64, 128, 256, 512)
"""What tilings multiply lengths with, divide them by, and want multiples of."""

_MULTIPLE = 1440
"""What most numbers that a length may have to be a multiple of divide."""

Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Changing:
    """A case to be changed, of an operator."""

    operator: Operator
    case: WorkloadCase

    def becoming(self, old: int, new: int) -> Iterator[WorkloadCase]:
        """Cases in which something that is `old` is `new`: a length, a rank, a dtype, a value, an
        attribute; a length everywhere; a length of which `old` is a multiple, part or remainder."""
        for index, shape in self._shapes():
            yield from (self._shaped(index, other) for other in _reshaped(shape, old, new))
            yield from self._in_dtype(index, old, new)
            yield from self._with_value(index, old, new)
        if 0 < new <= MOST_LENGTH:
            several = [i for i, shape in self._shapes() if old in shape]
            if len(several) > 1:
                made = self.case
                for index, shape in self._shapes():
                    made = _with_shape(made, index, tuple(new if n == old else n for n in shape))
                yield made
        yield from self._with_attribute(old, new)

    def otherwise(self) -> Iterator[WorkloadCase]:
        """Cases with or without an optional input, of other dtypes, and with related shapes."""
        shapes = [shape for _, shape in self._shapes()]
        parts = [p for s in shapes for p in (s, s[:1], s[-1:], s[:-1], s[1:])]
        parts = [*dict.fromkeys(p for p in (*parts, (1,)) if p)]
        for index, (spec, entry) in enumerate(
            zip(self.operator.inputs, self.case.inputs, strict=True)
        ):
            if isinstance(entry, tuple):
                for count in (1, 2, 4):
                    yield self._replaced(index, (entry[0],) * count)
            elif spec.param_type == "optional" and entry.present:
                yield self._replaced(index, entry.model_copy(update={"present": False}))
            elif spec.param_type == "optional":
                for part in parts:
                    yield self._replaced(
                        index,
                        entry.model_copy(update={"present": True, "shape": part, "values": None}),
                    )
        for column in range(max((len(t.dtypes) for t in self.operator.inputs), default=0)):
            yield self._in_column(column)
        for index, shape in self._shapes():
            yield from (self._shaped(index, part) for part in parts if part != shape)

    def _shapes(self) -> list[tuple[int, Shape]]:
        """Number and shape of each input that is there; of a list that of its tensors."""
        found = []
        for index, entry in enumerate(self.case.inputs):
            one = (entry[0] if entry else None) if isinstance(entry, tuple) else entry
            if one is not None and one.present:
                found.append((index, one.shape))
        return found

    def _replaced(self, index: int, entry: Entry) -> WorkloadCase:
        inputs = (*self.case.inputs[:index], entry, *self.case.inputs[index + 1 :])
        return self.case.model_copy(update={"inputs": inputs})

    def _shaped(self, index: int, shape: Shape) -> WorkloadCase:
        return _with_shape(self.case, index, shape)

    def _in_dtype(self, index: int, old: int, new: int) -> Iterator[WorkloadCase]:
        spec = self.operator.inputs[index]
        entry = self.case.inputs[index]
        one = entry[0] if isinstance(entry, tuple) else entry
        if BY_NAME[one.dtype].number == old:
            for column, name in enumerate(spec.dtypes):
                if name in BY_NAME and BY_NAME[name].number == new:
                    yield self._in_column(column)

    def _in_column(self, column: int) -> WorkloadCase:
        def typed(entry: Entry, dtypes: tuple[str, ...]) -> Entry:
            if isinstance(entry, tuple):
                return tuple(t for one in entry if isinstance(t := typed(one, dtypes), TensorCase))
            if not dtypes:
                return entry
            name = dtypes[min(column, len(dtypes) - 1)]
            return entry.model_copy(update={"dtype": name})

        pairs = zip(self.case.inputs, self.operator.inputs, strict=True)
        inputs = tuple(typed(entry, spec.dtypes) for entry, spec in pairs)
        return self.case.model_copy(update={"inputs": inputs})

    def _with_value(self, index: int, old: int, new: int) -> Iterator[WorkloadCase]:
        entry = self.case.inputs[index]
        if not isinstance(entry, TensorCase) or not self.operator.inputs[index].value_depend:
            return
        if entry.values is None or entry.values[:1] == (old,):
            yield self._replaced(index, entry.model_copy(update={"values": (new,)}))

    def _with_attribute(self, old: int, new: int) -> Iterator[WorkloadCase]:
        for spec in self.operator.attrs:
            value = self.case.attrs.get(spec.name, spec.default)
            for other in _other(value, old, new):
                attrs = {**self.case.attrs, spec.name: other}
                yield self.case.model_copy(update={"attrs": attrs})


def _reshaped(shape: Shape, old: int, new: int) -> Iterator[Shape]:
    """Shapes in which the rank, or one length, is another, such that `old` would be `new`."""
    if len(shape) == old and 0 < new <= MOST_RANK:
        if new < old:
            yield from (shape[:new], shape[old - new :])
        else:
            more = new - old
            yield from ((*shape, *(16,) * more), (*(2,) * more, *shape))
            yield from ((*shape, *(1,) * more), (*(1,) * more, *shape))
    for axis, length in enumerate(shape):
        for other in dict.fromkeys(_lengths(length, old, new)):
            if 0 < other <= MOST_LENGTH and other != length:
                yield (*shape[:axis], other, *shape[axis + 1 :])
    if len(shape) > 1 and prod(shape) == old and new > 0 and new % max(1, prod(shape[:-1])) == 0:
        yield (*shape[:-1], new // prod(shape[:-1]))


def _lengths(length: int, old: int, new: int) -> Iterator[int]:
    """What to make of a length so that `old`, which may follow from it, becomes `new`."""
    if length == old:
        yield new
    if old > 1 and length > 1:
        if old % length == 0 and new % (old // length) == 0:
            yield new // (old // length)
        for factor in _FACTORS:
            if -(-length // factor) == old or length // factor == old:
                yield new * factor
    if new == 0 and old > 0:
        for factor in _FACTORS:
            if length % factor == old:
                yield -(-length // factor) * factor
        yield _MULTIPLE


def _other(value: AttrValue | None, old: int, new: int) -> Iterator[AttrValue]:
    if isinstance(value, bool):
        if int(value) == old and new in (0, 1):
            yield bool(new)
    elif isinstance(value, int):
        if value == old:
            yield new
        if value > 1 and old > 1 and old % value == 0 and new % (old // value) == 0:
            yield new // (old // value)
    elif isinstance(value, float):
        if value == old:
            yield float(new)
    elif isinstance(value, tuple) and value and not isinstance(value[0], (bool, float)):
        if old in value:
            yield tuple(new if one == old else one for one in value)
        if len(value) == old and 0 < new <= MOST_RANK:
            yield tuple((*value, *value[-1:] * new)[:new])


def _with_shape(case: WorkloadCase, index: int, shape: Shape) -> WorkloadCase:
    entry = case.inputs[index]

    def shaped(one: TensorCase) -> TensorCase:
        kept = one.values if one.values is not None and len(one.values) == 1 else None
        return one.model_copy(update={"shape": shape, "values": kept})

    new: Entry = tuple(map(shaped, entry)) if isinstance(entry, tuple) else shaped(entry)
    return case.model_copy(
        update={"inputs": (*case.inputs[:index], new, *case.inputs[index + 1 :])}
    )
