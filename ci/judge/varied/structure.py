"""Families of another structure: rank, list lengths, optional inputs, dtypes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from math import prod

from ci.judge.varied.base import (
    Family,
    Known,
    Ladder,
    in_turns,
    input_count,
    shapes_of,
    tensors,
    with_tensors,
)
from ci.model.amount import amount
from ci.model.columns import case_column
from ci.model.dtypes import BY_NAME
from ci.model.errors import InputError
from ci.model.operator import TensorSpec
from ci.model.workload import Entry, TensorCase, WorkloadCase

LIST_LENGTHS = (5, 1, 2, 17)

MOST_LIST = 256
"""Tensors of a list; the frameworks' own limit."""

MOST_NUMBERS = 6
"""Constants that lists are made around."""

MOST_GUESSED = 3
"""Shapes of an input that the workload leaves out without saying one."""

RANKS = (5, 4, 6, 3, 8, 7, 2)
"""What a framework allows, the likeliest first."""

Shape = tuple[int, ...]


class Rank(Family):
    """The same elements in more or fewer dimensions."""

    name = "rank"

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """A leading 1, a split, a merged pair, one dimension, every rank: of all inputs, or of the
        largest."""
        return in_turns(
            chain(
                (
                    _reshaped(known, case, reshape)
                    for reshape in (_led, _split, _merged, _flat, _trailed)
                ),
                (_of_rank(known, case, rank) for rank in RANKS),
            )
            for case in known.workload.cases
        )


class ListLengths(Family):
    """More and fewer tensors in the lists of dynamic inputs, and tensors that differ in shape."""

    name = "list length"

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """Lists of equal length stay of equal length."""
        return in_turns(ladder for case in known.workload.cases for ladder in _lists(known, case))


def _lists(known: Known, case: WorkloadCase) -> Iterator[Iterator[Ladder]]:
    """Other lengths, and other shapes behind the first tensor."""
    for length in {len(e) for e in case.inputs if isinstance(e, tuple) and e}:
        wanted = (*LIST_LENGTHS, length + 1, *_list_limits(known))
        new = [n for n in dict.fromkeys(wanted) if n != length]
        yield ([relisted(known, case, length, n)] for n in new)
        some = case if length > 1 else relisted(known, case, length, length + 1)
        yield iter([_uneven(known, some)])


def _list_limits(known: Known) -> Iterator[int]:
    """Lengths at and beyond the numbers that are in the changed lines, the kernel and the tiling:
    it may keep room for so many tensors, or take so many at once."""
    sources = (known.numbers, known.kernel_constants, known.constants)
    numbers = dict.fromkeys(int(n) for some in sources for n in some if n == int(n))
    limits = [n for n in numbers if max(LIST_LENGTHS[:3]) < n < MOST_LIST]
    for number in limits[:MOST_NUMBERS]:
        yield from (number, number + 1)


def _uneven(known: Known, case: WorkloadCase) -> Iterator[WorkloadCase]:
    """Lists whose tensors are not of one shape: those behind the first are longer in the last
    dimension, the first one or both, or shorter where they have elements to spare."""
    for places, times in (((-1,), 2), ((0,), 2), ((0, -1), 2), ((-1,), 0.5), ((0,), 0.5)):

        def entry(given: Entry, places: tuple[int, ...] = places, times: float = times) -> Entry:
            if not isinstance(given, tuple) or len({t.shape for t in given}) != 1:
                return given
            changed = [_stretched(t, places, times) for t in given[1:]]
            return given[0], *changed

        inputs, outputs = tuple(map(entry, case.inputs)), tuple(map(entry, case.outputs))
        if inputs != case.inputs:
            how = f"{case.name} with lists of {times:g} times the length in {places}"
            made = {"name": how, "inputs": inputs, "outputs": outputs}
            yield known.free(case.model_copy(update=made))


def _stretched(tensor: TensorCase, places: tuple[int, ...], times: float) -> TensorCase:
    shape = [*tensor.shape]
    for at in {place % len(shape) for place in places} if shape else ():
        shape[at] = max(1, int(shape[at] * times))
    return tensor.model_copy(update={"shape": tuple(shape)})


class Presence(Family):
    """Optional inputs that the case has left out, and without those that it gives."""

    name = "optional input"

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """All that each case leaves out, then each optional input the other way."""
        for case in known.workload.cases:
            left_out = [n for n in _optional(known, case) if not _tensor(case, n).present]
            if len(left_out) > 1:
                yield [*_given(known, case, left_out)]
        for case in known.workload.cases:
            for index in _optional(known, case):
                if _tensor(case, index).present:
                    name = f"{case.name} without {known.operator.inputs[index].name}"
                    absent = _tensor(case, index).model_copy(update={"present": False})
                    yield [_with_inputs(known, case, {index: absent}, name)]
                else:
                    yield [*_given(known, case, [index])]


def _optional(known: Known, case: WorkloadCase) -> list[int]:
    """Its inputs that may be left out, by number; no lists."""
    pairs = enumerate(zip(case.inputs, known.operator.inputs, strict=False))
    return [
        n for n, (entry, spec) in pairs
        if spec.param_type == "optional" and isinstance(entry, TensorCase)
    ]  # fmt: skip


def _given(known: Known, case: WorkloadCase, left_out: Sequence[int]) -> Iterator[WorkloadCase]:
    """The case with inputs that it leaves out. One of which nothing says how long it is is as long
    as each of the others, the shortest first: a parameter is as long as another one. No integers
    of these: they may be indices."""
    others = {t.shape: None for t in tensors(case)[: input_count(case)] if t.present}
    shapes = [shape for shape in others if 0 not in shape]
    shapes.sort(key=lambda shape: (len(shape), prod(shape)))
    for guess in shapes[:MOST_GUESSED] or [(1,)]:
        entries = {}
        for index in left_out:
            one = _tensor(case, index)
            known_shape = 0 not in one.shape
            if not known_shape:
                one = _declared(known, case, index).model_copy(update={"shape": guess})
            if known_shape or BY_NAME[one.dtype].is_float:
                entries[index] = one.model_copy(update={"present": True})
        if entries:
            names = (
                f"{known.operator.inputs[n].name} {shapes_of([one])}" for n, one in entries.items()
            )
            yield _with_inputs(known, case, entries, f"{case.name} with {', '.join(names)}")
        if all(0 not in _tensor(case, index).shape for index in left_out):
            return


def _tensor(case: WorkloadCase, index: int) -> TensorCase:
    """An input that is no list."""
    one = case.inputs[index]
    assert isinstance(one, TensorCase)
    return one


def _declared(known: Known, case: WorkloadCase, index: int) -> TensorCase:
    """An input with the dtype that it has in the case's column."""
    one = _tensor(case, index)
    with suppress(InputError):
        found = _as_column(one, known.operator.inputs[index], case_column(known.operator, case))
        return found if isinstance(found, TensorCase) else one
    return one


def _with_inputs(
    known: Known, case: WorkloadCase, entries: Mapping[int, TensorCase], name: str
) -> WorkloadCase:
    inputs = tuple(entries.get(n, entry) for n, entry in enumerate(case.inputs))
    return known.free(case.model_copy(update={"name": name, "inputs": inputs}))


class Dtypes(Family):
    """Every dtype column of the definition, in every case's shapes."""

    name = "dtype"

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """Columns that no case of the workload is in come first."""
        used = {_dtypes(c) for c in known.workload.cases}
        cases = [c for case in known.workload.cases for c in in_other_dtypes(known, case)]
        for case in sorted(cases, key=lambda c: _dtypes(c) in used):
            yield [case, _widened(case)]


def in_other_dtypes(known: Known, case: WorkloadCase) -> Iterator[WorkloadCase]:
    """The case in each other dtype column of the definition."""
    operator, seen = known.operator, {_dtypes(case)}
    for column in range(max((len(spec.dtypes) for spec in operator.inputs), default=0)):
        changed = {
            part: tuple(
                _as_column(entry, spec, column) for entry, spec in zip(given, specs, strict=False)
            )
            for part, given, specs in (
                ("inputs", case.inputs, operator.inputs),
                ("outputs", case.outputs, operator.outputs),
            )
        }
        other = case.model_copy(update=changed)
        key = _dtypes(other)
        if key not in seen and all(t.dtype in BY_NAME for t in tensors(other)):
            seen.add(key)
            name = f"{case.name} ({', '.join(dict.fromkeys(key))})"
            yield other.model_copy(update={"name": name})


def _dtypes(case: WorkloadCase) -> tuple[str, ...]:
    return tuple(t.dtype for t in tensors(case.model_copy(update={"outputs": ()})) if t.present)


def _as_column(entry: Entry, spec: TensorSpec, column: int) -> Entry:
    if not spec.dtypes:
        return entry
    dtype = spec.dtypes[min(column, len(spec.dtypes) - 1)]
    if isinstance(entry, tuple):
        return tuple(t.model_copy(update={"dtype": dtype}) for t in entry)
    return entry.model_copy(update={"dtype": dtype})


def _widened(case: WorkloadCase) -> WorkloadCase:
    """The case with ranges that hold some whole numbers where it has integers."""

    def wide(tensor: TensorCase) -> TensorCase:
        low, high = tensor.range
        small = not BY_NAME[tensor.dtype].is_float and high - low < 4
        return tensor.model_copy(update={"range": (low * 50, high * 50)}) if small else tensor

    return case.changed("wider ranges", wide)


def _reshaped(
    known: Known, case: WorkloadCase, reshape: Callable[[Shape], Shape]
) -> Iterator[WorkloadCase]:
    """All tensors reshaped; else only those of the largest tensor's shape."""
    own = tensors(case)
    if not own:
        return
    largest = max((t.shape for t in own if t.values is None), key=lambda s: (len(s), s), default=())
    for only in (False, True):
        changed = [
            t.model_copy(update={"shape": reshape(t.shape)})
            if t.values is None and (t.shape == largest or not only)
            else t
            for t in own
        ]
        if any(a.shape != b.shape for a, b in zip(own, changed, strict=True)):
            how = shapes_of(changed) + " reshaped" * only
            yield known.free(with_tensors(case, how, changed))


def flattened(known: Known, case: WorkloadCase) -> WorkloadCase | None:
    """The case in one dimension; None where its tensors differ in shape or have one already."""
    shapes = {t.shape for t in tensors(case)}
    if len(shapes) != 1 or len(next(iter(shapes))) < 2 or any(t.values for t in tensors(case)):
        return None
    return next(_reshaped(known, case, _flat), None)


def _of_rank(known: Known, case: WorkloadCase, rank: int) -> Iterator[WorkloadCase]:
    for only in (False, True):
        made = with_rank(known, case, rank, only=only)
        if made is not None:
            yield made


def with_rank(known: Known, case: WorkloadCase, rank: int, *, only: bool) -> WorkloadCase | None:
    """The case with its tensors, or `only` those of the largest one's shape, in `rank` dimensions.

    None where it has such a rank already, or no shape of that rank has as many elements.
    """
    own = [t.shape for t in tensors(case)]
    most = max(map(len, own), default=0)
    if rank == most:
        return None

    def reshape(shape: Shape) -> Shape:
        return _in_rank(shape, rank) if len(shape) == most else shape

    made = list(_reshaped(known, case, reshape))
    return made[-1 if only else 0] if made else None


def _in_rank(shape: Shape, rank: int) -> Shape:
    """The leading dimensions multiplied, or split into factors that are not 1 as long as there
    are some."""
    if rank < len(shape):
        merged = len(shape) - rank + 1
        size = 1
        for length in shape[:merged]:
            size *= length
        return (size, *shape[merged:]) if rank else ()
    found = [*shape]
    while len(found) < rank:
        at = max(range(len(found)), key=lambda d: found[d] if found[d] % 2 == 0 else 0, default=-1)
        if at >= 0 and found[at] > 2 and found[at] % 2 == 0:
            found[at : at + 1] = [2, found[at] // 2]
        else:
            found.insert(0, 1)
    return tuple(found)


def _led(shape: Shape) -> Shape:
    return shape[1:] if shape[:1] == (1,) else (1, *shape)


def _trailed(shape: Shape) -> Shape:
    return shape[:-1] if shape[-1:] == (1,) else (*shape, 1)


def _split(shape: Shape) -> Shape:
    """The first dimension that can be halved, or cut in threes, as two."""
    for d, length in enumerate(shape):
        for part in (2, 3, 5):
            if length > part and length % part == 0:
                return (*shape[:d], part, length // part, *shape[d + 1 :])
    return shape


def _merged(shape: Shape) -> Shape:
    return (shape[0] * shape[1], *shape[2:]) if len(shape) > 2 else shape


def _flat(shape: Shape) -> Shape:
    size = 1
    for length in shape:
        size *= length
    return (size,)


def relisted(known: Known, case: WorkloadCase, length: int, new: int) -> WorkloadCase:
    """Lists of `length` tensors with `new` ones: the same over and over, or the first of them."""

    def entries(given: tuple[Entry, ...]) -> tuple[Entry, ...]:
        return tuple(
            tuple(e[k % length] for k in range(new))
            if isinstance(e, tuple) and len(e) == length
            else e
            for e in given
        )

    changed = {"inputs": entries(case.inputs), "outputs": entries(case.outputs)}
    name = f"{case.name} with {new} for {amount(length, 'tensor')}"
    return known.free(case.model_copy(update={"name": name, **changed}))
