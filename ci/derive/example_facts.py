"""What an example or a test tells of tensors and values, as data, and the lengths it spells out."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_LONGEST = 1 << 40
"""The largest length that is believed."""

_LONGEST_TEXT = 400
"""Characters of an expression that is read: the file is a stranger's."""

_ALIKE = 8
"""Letters of a name from which on another order of its words means the same."""

_SUFFIX = re.compile(r"(?<=\d)[uUlL]+\b")
_OPERATIONS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}


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
    """A test or a declaration says so; programs create inputs and outputs alike."""
    names: tuple[str, ...] = ()
    """What else it is called."""
    span: tuple[float, ...] = ()
    """Its least and its largest value, where `data` would be too long."""
    parts: tuple[ToldTensor, ...] = ()
    """The tensors of a list, of which this is one."""


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
    absent: tuple[str, ...] = ()
    """What it leaves out, by any of its names."""
    ran: bool = False
    """Whether it is what a program computed: then values go together."""


def length(text: str, values: Mapping[str, str]) -> int | None:
    """What whole numbers, and names of such, come to in `text`; None where that is no length.

    `values` has texts by lowered names.
    """
    return _length(text, values, {})


def _length(text: str, values: Mapping[str, str], known: dict[str, int | None]) -> int | None:
    """The same; `known` has what names came to, None while one is looked at."""
    if len(text) > _LONGEST_TEXT:
        return None
    try:
        found = _whole(ast.parse(_SUFFIX.sub("", text.strip()), mode="eval").body, values, known)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
        return None
    return found if found is not None and 0 <= found <= _LONGEST else None


def _whole(node: ast.expr, values: Mapping[str, str], known: dict[str, int | None]) -> int | None:
    """The value of an expression, None where it is more than arithmetic."""
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=name):
            if (word := name.lower()) not in known:
                known[word] = None
                known[word] = _length(values.get(word, ""), values, known)
            return known[word]
        case ast.BinOp(left=left, op=operation, right=right):
            first, second = _whole(left, values, known), _whole(right, values, known)
            does = _OPERATIONS.get(type(operation))
            if first is None or second is None or does is None:
                return None
            # Python divides negative numbers otherwise than C++.
            return None if min(first, second) < 0 else does(first, second)
    return None


def shape_of(text: str, values: dict[str, str]) -> tuple[int, ...] | None:
    """The lengths in a brace list of what `length` reads."""
    lengths = [length(part, values) for part in text.split(",") if part.strip()]
    return None if None in lengths else tuple(n for n in lengths if n is not None)


def is_called(variable: str, name: str) -> bool:
    """Whether a variable holds what is called `name`: 'inputXShape' and 'xOptional' hold 'x'."""
    plain = name.lower().replace("_", "")
    whole = variable.lower().replace("_", "").removesuffix("shape")
    bare = whole
    for role in ("optional", "ref", "input", "output", "out"):
        bare = bare.removeprefix(role).removesuffix(role) or bare
    if plain in (bare, whole):
        return True
    # actual_seq_qlen is called actualQSeqLen, too.
    return len(plain) > _ALIKE and sorted(plain) == sorted(bare)
