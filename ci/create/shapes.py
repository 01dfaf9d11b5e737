"""Lengths of groups and shapes of outputs as the host computes them, for any rank that was traced.

A run of axes of one input is recognised from the front or from the back, whichever holds in every
traced
case: the outer group of softmax is all axes of `x` but the last, whatever its rank is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ci.create.layout import Layout
from ci.create.scalars import Scalar, c_text, number
from ci.model.errors import InputError


@dataclass(frozen=True)
class Run:
    """Axes `begin` to before `end` of an input, in one case where it has `rank` axes."""

    name: str
    begin: int
    end: int
    rank: int


Piece = Run | Scalar


def pieces(dims: Sequence[Scalar], ranks: dict[str, int]) -> list[Piece]:
    """Lengths in a row, with neighbouring axes of one input joined to runs."""
    found: list[Piece] = []
    for dim in dims:
        one = _axis(dim, ranks)
        before = found[-1] if found else None
        if (
            isinstance(one, Run)
            and isinstance(before, Run)
            and before.name == one.name
            and before.end == one.begin
        ):
            found[-1] = Run(one.name, before.begin, one.end, one.rank)
        else:
            found.append(one)
    return found


def _axis(dim: Scalar, ranks: dict[str, int]) -> Piece:
    name, _, axis = dim.name.partition(".")
    if dim.op == "attr" and axis:
        return Run(name, int(axis), int(axis) + 1, ranks[name])
    return dim


def factors(scalar: Scalar) -> list[Scalar]:
    """A product as its factors."""
    if scalar.op == "mul":
        return [f for arg in scalar.args for f in factors(arg)]
    return [scalar]


def common(cases: Sequence[list[Piece]], ranks: Sequence[dict[str, int]], what: str) -> list[str]:
    """For each piece a C++ product or `begin..end` range that holds in all cases; `ranks` are the
    numbers of axes of the inputs in each.

    Raises InputError when the cases differ in more than ranks.
    """
    if len({len(c) for c in cases}) != 1:
        raise InputError(f"The cases differ in what {what} is made of; they need operators apart.")
    return [_one([c[i] for c in cases], ranks, what) for i in range(len(cases[0]))]


def same_text(versions: Sequence[Scalar], ranks: Sequence[dict[str, int]], what: str) -> str:
    """A number in the host's words, for cases in which axes count from the front or the back.

    Raises InputError where neither says it for all of them.
    """
    texts = {c_text(v) for v in versions}
    if len(texts) > 1:
        backs = {c_text(seen_from_back(v, own)) for v, own in zip(versions, ranks, strict=True)}
        if len(backs) > 1:
            raise InputError(f"{what} is {' and '.join(sorted(texts))} in different cases.")
        return backs.pop()
    return texts.pop()


def seen_from_back(scalar: Scalar, ranks: dict[str, int]) -> Scalar:
    """The same with each axis of an input counted from the last, which is -1."""
    name, _, axis = scalar.name.partition(".")
    if scalar.op == "attr" and axis:
        return Scalar("attr", name=f"{name}.{int(axis) - ranks[name]}")
    return replace(scalar, args=tuple(seen_from_back(a, ranks) for a in scalar.args))


def _one(versions: list[Piece], ranks: Sequence[dict[str, int]], what: str) -> str:
    runs = [v for v in versions if isinstance(v, Run)]
    if not runs:
        return same_text([v for v in versions if isinstance(v, Scalar)], ranks, what)
    if len(runs) != len(versions) or len({r.name for r in runs}) > 1:
        raise InputError(f"The cases differ in what {what} is made of; they need operators apart.")
    begin = place_of(
        [(r.begin, r.rank) for r in runs], runs[0].name, front=runs[0].begin == 0, what=what
    )
    end = place_of([(r.end, r.rank) for r in runs], runs[0].name, front=False, what=what)
    return f"{runs[0].name}|{begin}|{end}"


def place_of(places: list[tuple[int, int]], name: str, *, front: bool, what: str) -> str:
    """A place among axes, from the front or from the back."""
    fronts, backs = {p for p, _ in places}, {r - p for p, r in places}
    rank = f"{name}Shape.GetDimNum()"
    if len(fronts) == 1 and (front or len(backs) > 1):
        return str(fronts.pop())
    if len(backs) == 1:
        back = backs.pop()
        return f"{rank} - {back}" if back else rank
    raise InputError(f"{what} lies at different axes of '{name}' in different cases.")


def group_formulas(layouts: Sequence[Layout]) -> dict[str, str]:
    """For each group how the host computes its length."""
    found = {}
    ranks = [one.ranks for one in layouts]
    for place, group in enumerate(layouts[0].groups):
        cases = [pieces(factors(one.groups[place].size), one.ranks) for one in layouts]
        try:
            parts = common(cases, ranks, f"group {group.name}")
        except InputError:
            parts = None
        if parts is None or not all("|" in p for p in parts):
            sizes = [one.groups[place].size for one in layouts]
            text = same_text(sizes, ranks, f"The length of group {group.name}")
            found[group.name] = f"static_cast<uint64_t>({text})"
            continue
        found[group.name] = " * ".join(_product(p) for p in parts)
    return found


def equal_lengths(layouts: Sequence[Layout]) -> list[tuple[str, str]]:
    """Groups, and in the host's words what else each must be as long as."""
    found = []
    for place, (group, _) in enumerate(layouts[0].checks):
        lengths = [one.checks[place][1] for one in layouts]
        text = same_text(lengths, [one.ranks for one in layouts], f"The length of group {group}")
        found.append((group, f"static_cast<uint64_t>({text})"))
    return found


def _product(part: str) -> str:
    name, begin, end = part.split("|")
    return f"Product({name}Shape, {begin}, {end})"


@dataclass(frozen=True)
class Segment:
    """A piece of an output's shape: axes of an input, or one length."""

    text: str = ""
    name: str = ""
    begin: str = ""
    end: str = ""


def output_segments(layouts: Sequence[Layout]) -> list[list[Segment]]:
    """For each output its shape in pieces."""
    found = []
    ranks = [one.ranks for one in layouts]
    for place, tensor in enumerate(layouts[0].outputs):
        cases = [pieces(one.dims[place], one.ranks) for one in layouts]
        parts = common(cases, ranks, f"the shape of output '{tensor.name}'")
        found.append(
            [
                Segment(name=p.split("|")[0], begin=p.split("|")[1], end=p.split("|")[2])
                if "|" in p
                else Segment(
                    text=f"static_cast<int64_t>({p})" if p != repr(number(1).value) else "1"
                )
                for p in parts
            ]
        )
    return found
