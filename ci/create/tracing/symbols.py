"""Numbers that remember where they come from: sizes of axes and attributes.

They are ints and floats, so that golden code can do with them what it does with numbers. Their
arithmetic is written to the tape, and each comparison with its answer: the operator is for inputs
that give the same one. What loses the memory (`math.sqrt`) leaves a plain number, which the trace
of another case shows.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ci.create.tracing.tape import Tape

BINARY: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "__add__": ("add", operator.add),
    "__sub__": ("sub", operator.sub),
    "__mul__": ("mul", operator.mul),
    "__truediv__": ("div", operator.truediv),
    "__pow__": ("pow", operator.pow),
}
COMPARISONS: dict[str, tuple[str, str, Callable[[Any, Any], Any]]] = {
    "__lt__": ("lt", "ge", operator.lt),
    "__le__": ("le", "gt", operator.le),
    "__gt__": ("gt", "le", operator.gt),
    "__ge__": ("ge", "lt", operator.ge),
    "__eq__": ("eq", "ne", operator.eq),
    "__ne__": ("ne", "eq", operator.ne),
}
"""The operation that held and the one that held where it did not."""

UFUNCS = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "power": "pow",
    "float_power": "pow",
    "sqrt": "sqrt",
    "exp": "exp",
    "log": "log",
    "negative": "neg",
    "absolute": "abs",
    "fabs": "abs",
    "maximum": "max",
    "minimum": "min",
}


class Symbolic:
    """Next to int or float: the node on the tape that stands for the number."""

    tape: Tape
    node: int

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if any(isinstance(one, NDArrayOperatorsMixin) for one in inputs):
            return NotImplemented  # a traced array writes the call itself
        plain = [_plain(one) for one in inputs]
        value = getattr(ufunc, method)(*plain, **options)
        name = UFUNCS.get(ufunc.__name__)
        scalars = all(np.ndim(one) == 0 for one in plain)
        if method != "__call__" or name is None or options or not scalars:
            return value
        nodes = tuple(scalar_node(self.tape, one) for one in inputs)
        return symbolic(self.tape, self.tape.write(name, nodes), float(value))


def _plain(value: Any) -> Any:
    if isinstance(value, SymbolicInt):
        return int(value)
    return float(value) if isinstance(value, SymbolicFloat) else value


class SymbolicInt(int, Symbolic):
    """A size or a whole attribute."""


class SymbolicFloat(float, Symbolic):
    """An attribute, or what was computed of one."""


def symbolic(tape: Tape, node: int, value: float) -> Any:
    """The number `value` that `node` stands for."""
    kind = SymbolicInt if isinstance(value, int) else SymbolicFloat
    made = kind(value)
    made.tape, made.node = tape, node
    return made


def scalar_node(tape: Tape, value: Any) -> int:
    """The node of a number, symbolic or not."""
    return value.node if isinstance(value, Symbolic) else tape.constant(float(value))


def _give_arithmetic(kind: type) -> None:
    def forward(op: str, compute: Callable[[Any, Any], Any], swapped: bool) -> Any:
        def method(self: Any, other: Any) -> Any:
            if isinstance(other, bool) or not isinstance(other, int | float | np.number):
                return NotImplemented
            pair = (_plain(other), _plain(self)) if swapped else (_plain(self), _plain(other))
            nodes = (scalar_node(self.tape, self), scalar_node(self.tape, other))
            node = self.tape.write(op, nodes[::-1] if swapped else nodes)
            return symbolic(self.tape, node, compute(*pair))

        return method

    for name, (op, compute) in BINARY.items():
        setattr(kind, name, forward(op, compute, False))
        setattr(kind, "__r" + name[2:], forward(op, compute, True))

    def floored(swapped: bool) -> Callable[..., Any]:
        def method(self: Any, other: Any) -> Any:
            if isinstance(other, bool) or not isinstance(other, int | float | np.number):
                return NotImplemented
            a, b = (other, self) if swapped else (self, other)
            parts = (scalar_node(self.tape, a), scalar_node(self.tape, b))
            node = self.tape.write("floor", (self.tape.write("div", parts),))
            return symbolic(self.tape, node, _plain(a) // _plain(b))

        return method

    for name, swapped in (("__floordiv__", False), ("__rfloordiv__", True)):
        setattr(kind, name, floored(swapped))

    def rest(swapped: bool) -> Callable[..., Any]:
        def method(self: Any, other: Any) -> Any:
            if isinstance(other, bool) or not isinstance(other, int | float | np.number):
                return NotImplemented
            a: Any = other if swapped else self
            b: Any = self if swapped else other
            return a - a // b * b

        return method

    setattr(kind, "__mod__", rest(False))  # noqa: B010
    setattr(kind, "__rmod__", rest(True))  # noqa: B010

    def compared(op: str, otherwise: str, compute: Callable[[Any, Any], Any]) -> Any:
        def method(self: Any, other: Any) -> Any:
            if isinstance(other, bool) or not isinstance(other, int | float | np.number):
                return NotImplemented
            held = bool(compute(_plain(self), _plain(other)))
            nodes = (scalar_node(self.tape, self), scalar_node(self.tape, other))
            self.tape.guards[op if held else otherwise, *nodes] = None
            return held

        return method

    for name, (op, otherwise, compute) in COMPARISONS.items():
        setattr(kind, name, compared(op, otherwise, compute))
    setattr(kind, "__bool__", lambda self: self != 0)  # noqa: B010
    setattr(kind, "__hash__", lambda self: hash(_plain(self)))  # noqa: B010

    def negated(self: Any) -> Any:
        return symbolic(self.tape, self.tape.write("neg", (self.node,)), -_plain(self))

    setattr(kind, "__neg__", negated)  # noqa: B010


_give_arithmetic(SymbolicInt)
_give_arithmetic(SymbolicFloat)
