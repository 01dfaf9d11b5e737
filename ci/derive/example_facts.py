"""What an example or a test tells of tensors and values, as data, and the lengths it spells out."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

_DEEPEST = 4
"""Names that stand for names."""


@dataclass(frozen=True)
class ToldTensor:
    """A tensor that a program creates."""

    name: str
    """The name of its shape variable."""
    shape: tuple[int, ...]
    dtype: str
    """'' where it is not known."""
    data: tuple[float, ...] = ()
    """Its values in order, where they are spelled out."""
    is_output: bool = False
    """A test says so; programs create inputs and outputs alike."""


@dataclass(frozen=True)
class Example:
    """What one example program, or one test, says."""

    tensors: tuple[ToldTensor, ...]
    """In the order of creation."""
    values: dict[str, str]
    """Initial values of plain variables, by lowered name; lists as their inner text."""
    source: str = "example"
    arrays: tuple[ToldTensor, ...] = ()
    """Lists of numbers that it hands over as such: inputs by their names, or attributes."""


def length(text: str, values: dict[str, str], deep: int = 0) -> int | None:
    """What a sum of products of numbers and of names of such comes to, None where it is not one.

    `values` has texts by lowered names.
    """
    total = 0
    for term in text.split("+"):
        factors: list[int | None] = []
        for factor in (part.strip() for part in term.split("*")):
            known = values.get(factor.lower())
            if factor.rstrip("uUlL").isdecimal():
                factors.append(int(factor.rstrip("uUlL")))
            elif known is not None and deep < _DEEPEST:
                factors.append(length(known, values, deep + 1))
            else:
                return None
        if None in factors:
            return None
        total += prod(n for n in factors if n is not None)
    return total


def shape_of(text: str, values: dict[str, str]) -> tuple[int, ...] | None:
    """The lengths in a brace list of what `length` reads."""
    lengths = [length(part, values) for part in text.split(",") if part.strip()]
    return None if None in lengths else tuple(n for n in lengths if n is not None)
