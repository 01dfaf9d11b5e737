"""What a workload says of a launch in numbers: expressions over lengths of inputs, as C++."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

Written: TypeAlias = int | float | str
"""A number, or an expression as a person writes it."""

CHIP: Final = ("cores", "cube_cores", "ub")
"""Names of the chip's own numbers: vector cores, cube cores, bytes of UB of a vector core."""

_OPERATORS: Final[Mapping[type[ast.operator], str]] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_DIVISIONS: Final[Mapping[type[ast.operator], str]] = {
    ast.FloorDiv: "Quotient",
    ast.Mod: "Remainder",
}
_COMPARISONS: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_OF_TENSORS: Final = {"size": "Size", "ndim": "Rank", "itemsize": "ItemBytes"}
_MOST_CHARACTERS: Final = 500


@dataclass(frozen=True)
class Known:
    """The names that an expression may use."""

    inputs: Sequence[str]
    whole: Mapping[str, bool] = field(default_factory=dict)
    """Whether a number of that name is a whole one."""
    literal: Callable[[int, int], str] = lambda column, value: str(value)
    """What a whole number is written as, from its place in the expression and its value."""


@dataclass(frozen=True)
class Code:
    """An expression in C++: of type int64_t where it is `whole`, else double."""

    text: str
    whole: bool


def code(written: Written, known: Known) -> Code:
    """An expression in C++, with lengths asked of an object called `given`.

    Raises ValueError that says what in it is not understood.
    """
    if isinstance(written, str) and len(written) > _MOST_CHARACTERS:
        raise ValueError(f"has more than {_MOST_CHARACTERS} characters")
    try:
        tree = ast.parse(str(written), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"is '{written}', which is no expression") from None
    return _code(tree, known)


def _code(node: ast.expr, known: Known) -> Code:
    match node:
        case ast.Constant(value=bool() as truth):
            return Code(str(int(truth)), True)
        case ast.Constant(value=int() as number) if number < 2**63:
            return Code(f"int64_t({known.literal(node.col_offset, number)})", True)
        case ast.Constant(value=float() as number) if math.isfinite(number):
            return Code(repr(number), False)
        case ast.Name(id=name):
            return _named(name, known)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            one = _code(inner, known)
            return Code(f"(-{one.text})", one.whole)
        case ast.BinOp(left=left, op=operator, right=right):
            return _arithmetic(operator, _code(left, known), _code(right, known))
        case ast.Compare(left=left, ops=[comparison], comparators=[right]) if (
            type(comparison) in _COMPARISONS
        ):
            a, b = _code(left, known), _code(right, known)
            return Code(f"int64_t({a.text} {_COMPARISONS[type(comparison)]} {b.text})", True)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            a, b = _code(body, known), _code(orelse, known)
            return _common(a, b, f"({_code(test, known).text} != 0 ? {{}} : {{}})")
        case ast.Call(func=ast.Name(id=("min" | "max") as name), args=[_, _, *_], keywords=[]):
            first, *others = (_code(one, known) for one in node.args)
            for other in others:
                kind = "int64_t" if first.whole and other.whole else "double"
                first = _common(first, other, f"std::{name}<{kind}>({{}}, {{}})")
            return first
        case ast.Call(func=ast.Name(id="ceil_div"), args=[left, right], keywords=[]):
            return Code(f"given.RoundedUp({_whole(left, known)}, {_whole(right, known)})", True)
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if attr in _OF_TENSORS:
            return Code(f"given.{_OF_TENSORS[attr]}({_input(name, known)})", True)
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=axis):
            return Code(f"given.Dim({_input(name, known)}, {_whole(axis, known)})", True)
    raise ValueError(
        f"has '{ast.unparse(node)}'; it may use numbers, + - * / // %, comparisons, a if c else b,"
        " min, max, ceil_div, and shape[i], size, ndim and itemsize of inputs"
    )


def _arithmetic(operator: ast.operator, a: Code, b: Code) -> Code:
    if sign := _OPERATORS.get(type(operator)):
        return _common(a, b, f"({{}} {sign} {{}})")
    if isinstance(operator, ast.Div):
        return Code(f"given.Ratio({a.text}, {b.text})", False)
    if division := _DIVISIONS.get(type(operator)):
        if not (a.whole and b.whole):
            raise ValueError("divides numbers that are not whole by // or %")
        return Code(f"given.{division}({a.text}, {b.text})", True)
    raise ValueError("has an operator that is none of + - * / // %")


def _common(a: Code, b: Code, form: str) -> Code:
    whole = a.whole and b.whole
    texts = [one.text if one.whole == whole else f"double({one.text})" for one in (a, b)]
    return Code(form.format(*texts), whole)


def _whole(node: ast.expr, known: Known) -> str:
    found = _code(node, known)
    if not found.whole:
        raise ValueError(f"has '{ast.unparse(node)}' where a whole number is needed")
    return found.text


def _input(name: str, known: Known) -> int:
    if name not in known.inputs:
        raise ValueError(f"names '{name}', no input; inputs are {', '.join(known.inputs)}")
    return list(known.inputs).index(name)


def _named(name: str, known: Known) -> Code:
    if name in known.whole:
        return Code(f"v_{name}", known.whole[name])
    names = ", ".join(known.whole) or "none"
    raise ValueError(f"names '{name}', which is no number here; numbers are {names}")
