"""Families of other values: attributes, given numbers, ranges, and what is no ordinary number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ci.judge.varied.base import (
    Family,
    Known,
    Ladder,
    in_turns,
    input_count,
    tensors,
    with_tensors,
)
from ci.judge.varied.structure import in_other_dtypes
from ci.model.columns import output_dtypes
from ci.model.dtypes import BY_NAME
from ci.model.operator import AttrSpec
from ci.model.workload import AttrValue, Distribution, TensorCase, WorkloadCase
from ci.source.quoted_words import quoted_words

MOST_NUMBERS = 6
MOST_WORDS = 8
MOST_ITEMS = 4
MOST_TOGETHER = 4

TINY = 1e-12
"""Far below what single precision keeps next to an ordinary number."""


class Attributes(Family):
    """Each attribute, with its default and with values of another kind than the case's."""

    name = "attribute"
    turns = 2

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """One attribute at a time, in every case; then several numbers together."""
        cases = known.workload.cases
        return in_turns(
            [
                *(_attribute(known, case, spec) for spec in known.operator.attrs for case in cases),
                *(iter([ladder]) for case in cases[:1] for ladder in _together(known, case)),
            ]
        )


class GivenValues(Family):
    """Scalar inputs and tensors whose values the workload gives."""

    name = "given value"

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """One tensor at a time."""
        return in_turns(
            _given(known, case, number)
            for case in known.workload.cases
            for number, tensor in enumerate(tensors(case))
            if tensor.values and tensor.present
        )


class Ranges(Family):
    """Other magnitudes and orders of what is drawn: a maximum or an epsilon left out shows."""

    name = "range"
    turns = 2
    rounding = True

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """Return ladders of all inputs, else of those that hold both signs, else of the
        first."""
        return in_turns(_ranges(case, known.numbers) for case in known.workload.cases)


class Magnitude(Family):
    """All of the exponents that a dtype has: what is scaled in between overflows far out."""

    name = "magnitude"
    turns = 2
    rounding = True

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """All of one magnitude, far up and far down; then each row of one of its own."""
        return in_turns(_magnitudes(case) for case in known.workload.cases)


def _magnitudes(case: WorkloadCase) -> Iterator[Ladder]:
    for exponent in EXPONENTS:

        def scaled(tensor: TensorCase, share: float = exponent) -> TensorCase:
            low, high = tensor.range
            factor = 10.0 ** (share * BY_NAME[tensor.dtype].decades)
            factor /= max(abs(low), abs(high)) or 1.0
            return tensor.model_copy(update={"range": (low * factor, high * factor)})

        yield _changed(case, f"magnitudes of {exponent:+.2f} of all decades", scaled)
    yield from _distributed(case, "magnitudes", floats_only=True)


EXPONENTS = (0.26, 0.5, 0.8, -0.25, -0.5, -0.75)
"""Exponents as shares of the largest exponent: of float32 about 1e19, 1e10, 1e30, 1e-10, 1e-19,
1e-29."""


class Special(Family):
    """NaN, infinities, denormals and signed zeros, in a few elements: most rows stay ordinary."""

    name = "special value"
    turns = 2

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """Every case, then its other dtypes; kinds apart, lest one excuse another."""
        cases = [*known.workload.cases]
        cases += (c for case in known.workload.cases for c in in_other_dtypes(known, case))
        kinds: tuple[Distribution, ...] = ("infinite", "special", "tiny")
        for kind in kinds:
            for case in cases:
                yield from _distributed(case, kind, floats_only=True)


class Ties(Family):
    """Numbers half way between two integers: each way to round gives others there."""

    name = "tie of rounding"

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """Every case."""
        for case in known.workload.cases:
            yield from _distributed(case, "ties", floats_only=True)


class Exact(Family):
    """Integers that float32 does not hold: what computes with them in float changes them."""

    name = "integer that no float holds"

    def ladders(self, known: Known) -> Iterator[Ladder]:
        """One tensor at a time, for products of two may not fit; every case, where an output holds
        such integers, too."""
        return in_turns(_beyond_float(known, case) for case in known.workload.cases)


def _holds(name: str) -> bool:
    """Whether a dtype holds integers that float32 does not."""
    dtype = BY_NAME[name]
    whole = dtype.storage == name and np.issubdtype(dtype.numpy, np.integer)
    return whole and dtype.limits[1] > FLOAT_HOLDS + MORE


def _beyond_float(known: Known, case: WorkloadCase) -> Iterator[Ladder]:
    own = tensors(case)
    if not any(_holds(name) for name in output_dtypes(known.operator, case)):
        return
    for number, tensor in enumerate(own[: input_count(case)]):
        if _holds(tensor.dtype) and tensor.present and tensor.values is None:
            ends = (float(FLOAT_HOLDS), float(FLOAT_HOLDS + MORE))
            far = tensor.model_copy(update={"range": ends, "distribution": "uniform"})
            changed = [*own[:number], far, *own[number + 1 :]]
            yield [with_tensors(case, f"integers beyond float in tensor {number}", changed)]


FLOAT_HOLDS = 1 << 24
"""float32 holds each integer up to this one, and every second one behind."""

MORE = 1 << 12


def _attribute(known: Known, case: WorkloadCase, spec: AttrSpec) -> Iterator[Ladder]:
    now = case.attrs.get(spec.name, spec.default)
    for value in dict.fromkeys(_others(known, case, spec, now)):
        if value != now or type(value) is not type(now):
            name = f"{case.name} with {spec.name}={value}"
            attrs = {**case.attrs, spec.name: value}
            yield [known.free(case.model_copy(update={"name": name, "attrs": attrs}))]


def _together(known: Known, case: WorkloadCase) -> Iterator[Ladder]:
    """Two numbers or more that are equal, and each of them small where the others are 0: what is
    lost of it drowns in theirs."""
    now = {spec.name: case.attrs.get(spec.name, spec.default) for spec in known.operator.attrs}
    floats = [n for n, value in now.items() if isinstance(value, float)]
    if len(floats) < 2:
        return
    made = [dict.fromkeys(floats, 0.5)]
    made += [{**dict.fromkeys(floats, 0.0), name: TINY} for name in floats]
    for given in made[:MOST_TOGETHER]:
        said = ", ".join(f"{name}={value:g}" for name, value in given.items())
        attrs = {**case.attrs, **given}
        name = f"{case.name} with {said}"
        yield [known.free(case.model_copy(update={"name": name, "attrs": attrs}))]


def _others(
    known: Known, case: WorkloadCase, spec: AttrSpec, now: AttrValue | None
) -> Iterator[AttrValue]:
    if isinstance(now, tuple):
        yield from _beyond_lengths(case, now)
        yield from _other_lists(now)
    elif spec.type == "bool":
        yield not now
    elif spec.type == "string":
        yield from quoted_words(known.operator)[:MOST_WORDS]
    elif spec.type in ("int", "float"):
        whole = spec.type == "int"
        number = now if isinstance(now, (int, float)) else 0
        if isinstance(spec.default, (int, float)):
            yield spec.default  # what most callers pass
        for value in _other_numbers(number, known.numbers, whole):
            yield int(value) if whole else float(value)


def _beyond_lengths(case: WorkloadCase, now: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Each whole number in turn one more than any dimension has elements, where the others are 0:
    widths, steps and places are held against a length, or only where there are two of them."""
    if not now or not all(type(value) is int for value in now):
        return
    longest = max((n for tensor in tensors(case) for n in tensor.shape), default=0)
    for index in range(len(now))[:MOST_ITEMS]:
        yield tuple(longest + 1 if index == k else 0 for k in range(len(now)))


def _other_lists(now: tuple[Any, ...]) -> Iterator[AttrValue]:
    yield now[::-1]
    yield from _other_lengths(now)
    for index, value in enumerate(now[:MOST_ITEMS]):
        others = [not value] if isinstance(value, bool) else [0, 1, value + 1, value - 1]
        for other in others:
            yield (*now[:index], type(value)(other), *now[index + 1 :])


def _other_lengths(now: tuple[Any, ...]) -> Iterator[AttrValue]:
    """One item more, which differs from the others, and one less."""
    if now and isinstance(now[-1], bool):
        yield (*now, not now[-1])
    elif now and isinstance(now[-1], (int, float)):
        free = (type(now[-1])(v) for v in (0, 1, 2, *(max(now) + n for n in (1, 2))))
        yield from ((*now, v) for v in [*dict.fromkeys(v for v in free if v not in now)][:2])
    if len(now) > 1:
        yield now[:-1]


def _other_numbers(now: float, numbers: Iterable[float], whole: bool) -> Iterator[float]:
    yield from (0, -now if now > 0 else -1)
    yield from [n for n in numbers if not whole or n == int(n)][:MOST_NUMBERS]
    yield from (1, now + 1, now * 2 if whole else now * 10 + 3)
    yield from (now - 1, 1e-3 * now + (0 if now else 1e-3)) if not whole else (now - 1, -2, 2)


def _given(known: Known, case: WorkloadCase, number: int) -> Iterator[Ladder]:
    own = tensors(case)
    values: tuple[Any, ...] = own[number].values or ()
    whole = not BY_NAME[own[number].dtype].is_float
    lists: list[tuple[Any, ...]] = []
    if any(isinstance(v, complex) for v in values):  # they have no order
        lists += [values[::-1], tuple(-v for v in values), (0,) * len(values)]
    elif len(set(values)) == 1:
        others = _other_numbers(values[0], known.numbers, whole)
        lists += [(int(v) if whole else v,) * len(values) for v in others]
    else:
        ordered = sorted(values)
        lists += [values[::-1], (*values[1:], values[0]), tuple(ordered)]
        lists += [(v,) * len(values) for v in (ordered[0], ordered[-1], 0)]
    if len(values) > 1:
        lists += _beyond_lengths(case, values)
    for count, new in enumerate(dict.fromkeys(lists)):
        if new != values:
            told = f"{new[0]}" if len(set(new)) == 1 else f"values {count}"
            changed = [*own]
            changed[number] = own[number].model_copy(update={"values": new})
            yield [known.free(with_tensors(case, f"{told} as tensor {number}", changed))]


def _ranges(case: WorkloadCase, numbers: tuple[float, ...]) -> Iterator[Ladder]:
    yield _scaled(case, (25.0,), 0.0)
    yield _moved_alone(case, 1000.0, 100.0, 10.0)
    yield from _widened(case)
    yield from _distributed(case, "spiked", floats_only=True)
    yield from _distributed(case, "constant_rows")
    yield from (_about(case, number) for number in numbers[:MOST_NUMBERS])
    yield _changed(case, "all that they hold", _widest, floats=False)
    yield _scaled(case, (1e-3, 1e-2), 0.0)
    yield _scaled(case, (0.0,), 0.0)
    yield _scaled(case, (1000.0, 100.0), 0.0)
    yield from _distributed(case, "sorted")
    yield _scaled(case, (1.0,), -10.0, -2.0, -1.0)


def _scaled(case: WorkloadCase, factors: tuple[float, ...], *shifts: float) -> Ladder:
    """Ranges times a factor, moved by some of their own widths."""
    for factor in factors:
        for shift in shifts:

            def moved(tensor: TensorCase, by: float = factor, far: float = shift) -> TensorCase:
                low, high = tensor.range
                away = far * (high - low)
                return tensor.model_copy(update={"range": (low * by + away, high * by + away)})

            how = f"ranges x{factor:g}" + f" moved by {shift:g}" * bool(shift)
            yield from _changed(case, how, moved)


def _moved_alone(case: WorkloadCase, *shifts: float) -> Ladder:
    """Each shift of the first input alone, and only then of several: where a bias is moved as far,
    it drowns what is lost of the rest."""
    rungs = [list(_scaled(case, (1.0,), shift)) for shift in shifts]
    return [case for which in reversed(list(zip(*rungs, strict=True))) for case in which]


def _widened(case: WorkloadCase) -> Iterator[Ladder]:
    """Integers beyond their ends: an index may be allowed to be negative, or out of range."""
    for how, below, above in (("wider", 1, 1), ("lower", 1, 0), ("higher", 0, 1)):

        def moved(tensor: TensorCase, down: int = below, up: int = above) -> TensorCase:
            low, high = tensor.range
            more = (high - low) // 4 + 2
            ends = (low - down * more, high + up * more)
            return tensor.model_copy(update={"range": ends})

        yield _changed(case, f"a {how} range", moved, floats=False)


def _about(case: WorkloadCase, number: float) -> Ladder:
    """Values on both sides of a number and of its negative."""

    def around(tensor: TensorCase) -> TensorCase:
        return tensor.model_copy(update={"range": (-2 * abs(number), 2 * abs(number))})

    return _changed(case, f"values about {number:g}", around)


def _widest(tensor: TensorCase) -> TensorCase:
    """Whole numbers over all that their dtype holds."""
    low, high = BY_NAME[tensor.dtype].limits
    return tensor.model_copy(update={"range": (float(low), float(high))})


def _distributed(
    case: WorkloadCase, kind: Distribution, *, floats_only: bool = False
) -> Iterator[Ladder]:
    def drawn(tensor: TensorCase) -> TensorCase:
        return tensor.model_copy(update={"distribution": kind})

    how = kind.replace("_", " ")
    yield _changed(case, how, drawn)
    if not floats_only:
        yield _changed(case, f"{how} integers", drawn, floats=False)


def _changed(
    case: WorkloadCase,
    how: str,
    change: Callable[[TensorCase], TensorCase],
    *,
    floats: bool = True,
) -> Iterator[WorkloadCase]:
    """All drawn inputs of a kind changed; those that hold both signs; the first of them."""
    own = tensors(case)
    drawn = [
        n
        for n, t in enumerate(own[: input_count(case)])
        if t.values is None and t.present and not BY_NAME[t.dtype].is_complex
        if t.dtype != "bool" and BY_NAME[t.dtype].is_float == floats
    ]
    both = [n for n in drawn if own[n].range[0] < 0 < own[n].range[1]]
    for some in dict.fromkeys((tuple(drawn), tuple(both), tuple(drawn[:1]))):
        if some:
            which = f" of tensors {', '.join(map(str, some))}" * (len(some) < len(drawn))
            tensor_list = [change(t) if n in some else t for n, t in enumerate(own)]
            yield with_tensors(case, how + which, tensor_list)
