"""What must hold of the inputs' shapes and attributes for the traced program to be the right one.

The host refuses other inputs: the golden function would compute something else for them, or fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ci.create.layout import Guard, Layout, Place
from ci.create.scalars import Scalar, c_text
from ci.create.shapes import Run, place_of, same_text, seen_from_back
from ci.model.errors import InputError

MOST_PLACES: Final = 1 << 24
"""Whole numbers that float32 holds."""

_SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


@dataclass(frozen=True)
class Relation:
    """A condition in the host's C++, and a sentence for the one whose inputs do not fulfil it."""

    text: str
    said: str


def relations(layouts: Sequence[Layout], narrow: frozenset[str] = frozenset()) -> list[Relation]:
    """All that the host checks; `narrow` are the attributes that it has in single precision."""
    return [
        *_equal(layouts),
        *_single(layouts),
        *_products(layouts),
        *_indexed(layouts),
        *_guards(layouts, narrow),
    ]


def _equal(layouts: Sequence[Layout]) -> list[Relation]:
    found = []
    cases = [_runs(one) for one in layouts]
    if len({len(case) for case in cases}) != 1:
        return []
    for versions in zip(*cases, strict=True):
        mine, other = ([pair[side] for pair in versions] for side in (0, 1))
        if len({(a.name, b.name) for a, b in versions}) != 1:
            continue
        try:
            (a, a_end), (b, b_end) = _ends(mine), _ends(other)
        except InputError:
            continue
        x, y = mine[0].name, other[0].name
        text = f"SameAxes({x}Shape, {a}, {a_end}, {y}Shape, {b}, {b_end})"
        said = f"{x} and {y} must agree in the axes that meet"
        if x == y:
            said = f"axes of {x} that meet must be equally long"
        found.append(Relation(text, said))
    return list(dict.fromkeys(found))


def _runs(layout: Layout) -> list[tuple[Run, Run]]:
    """Axes that must be equally long, neighbours joined."""
    found: list[tuple[Run, Run]] = []
    for mine, other in layout.equal:
        a, b = (Run(n, k, k + 1, layout.ranks[n]) for n, k in (mine, other))
        if found:
            x, y = found[-1]
            if (x.name, x.end, y.name, y.end) == (a.name, a.begin, b.name, b.begin):
                found[-1] = (
                    Run(a.name, x.begin, a.end, a.rank),
                    Run(b.name, y.begin, b.end, b.rank),
                )
                continue
        found.append((a, b))
    return found


def _ends(runs: Sequence[Run]) -> tuple[str, str]:
    name = runs[0].name
    begins = [(r.begin, r.rank) for r in runs]
    front = runs[0].begin == 0
    return (
        place_of(begins, name, front=front, what=f"an axis of '{name}'"),
        place_of([(r.end, r.rank) for r in runs], name, front=False, what=f"an axis of '{name}'"),
    )


def _single(layouts: Sequence[Layout]) -> list[Relation]:
    found = []
    if len({len(one.single) for one in layouts}) != 1:
        return []
    for places in zip(*(one.single for one in layouts), strict=True):
        if len({name for name, _ in places}) != 1:
            continue
        axes = [Scalar("attr", name=_axis(place)) for place in places]
        try:
            text = same_text(axes, [one.ranks for one in layouts], "An axis of one element")
        except InputError:
            continue
        said = f"{places[0][0]} must have one element in axis {places[0][1]}"
        found.append(Relation(f"{text} == 1", said))
    return found


def _axis(place: Place) -> str:
    return f"{place[0]}.{place[1]}"


def _products(layouts: Sequence[Layout]) -> list[Relation]:
    found = []
    ranks = [one.ranks for one in layouts]
    if len({len(one.products) for one in layouts}) != 1:
        return []
    for versions in zip(*(one.products for one in layouts), strict=True):
        if len({len(parts) for _, parts in versions}) != 1:
            continue
        try:
            whole = same_text([dim for dim, _ in versions], ranks, "An axis")
            factors = [
                same_text([parts[k] for _, parts in versions], ranks, "A part of an axis")
                for k in range(len(versions[0][1]))
            ]
        except InputError:
            continue
        product = " * ".join(f"static_cast<uint64_t>({one})" for one in factors)
        name, _, axis = versions[0][0].name.partition(".")
        said = f"axis {axis} of {name} must be a product of the parts that it is cut into"
        found.append(Relation(f"{product} == static_cast<uint64_t>({whole})", said))
    return list(dict.fromkeys(found))


def _indexed(layouts: Sequence[Layout]) -> list[Relation]:
    """A place is a float in a kernel, which is exact up to 2^24."""
    if len({len(one.indexed) for one in layouts}) != 1:
        return []
    ranks = [one.ranks for one in layouts]
    lengths = (
        same_text(v, ranks, "An axis") for v in zip(*(one.indexed for one in layouts), strict=True)
    )
    said = f"an axis that is indexed by values has more than {MOST_PLACES} places"
    return [Relation(f"static_cast<uint64_t>({one}) <= {MOST_PLACES}", said) for one in lengths]


def _guards(layouts: Sequence[Layout], narrow: frozenset[str]) -> list[Relation]:
    """Comparisons that held in every case, counted from the front or from the back."""
    fronts = [{_guard(g, narrow): g for g in one.guards} for one in layouts]
    backs = [
        {
            _guard((op, seen_from_back(a, one.ranks), seen_from_back(b, one.ranks)), narrow): None
            for op, a, b in one.guards
        }
        for one in layouts
    ]
    kept = [text for text in fronts[0] if all(text in case for case in fronts)]
    known = {fronts[0][text] for text in kept}
    back_texts = list(backs[0])
    for place, guard in enumerate(fronts[0].values()):
        if guard in known or place >= len(back_texts):
            continue
        if all(back_texts[place] in case for case in backs):
            kept.append(back_texts[place])
    said = "the operator was made for the other answer of a comparison in its reference"
    return [Relation(text, said) for text in dict.fromkeys(kept)]


def _guard(guard: Guard, narrow: frozenset[str]) -> str:
    op, a, b = guard
    left, right = c_text(a), c_text(b)
    if any(f"{name}Attr" in f"{left} {right}" for name in narrow):
        left, right = f"static_cast<float>({left})", f"static_cast<float>({right})"
    return f"{left} {_SIGNS[op]} {right}"
