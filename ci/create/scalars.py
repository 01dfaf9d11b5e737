"""Numbers that are known before the kernel runs: constants, attributes, sizes, and what they make.

They are computed in double precision on the host and given to the kernel as floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Scalar:
    """An expression: a leaf ('const', 'attr', 'extent') or an operation on others."""

    op: str
    args: tuple[Scalar, ...] = ()
    value: float = 0.0
    name: str = ""
    """The name of an attribute; of an extent, the groups' names joined by '*'."""

    @property
    def constant(self) -> float | None:
        """Its value when it depends on nothing."""
        if self.op == "const":
            return self.value
        known = [a.constant for a in self.args]
        if self.op not in _MEANING or any(k is None for k in known):
            return None
        return _computed(self.op, [k for k in known if k is not None])

    def evaluate(self, attrs: Mapping[str, float], sizes: Mapping[str, int]) -> float:
        """Its value for these attributes and sizes of groups."""
        if self.op == "const":
            return self.value
        if self.op == "attr":
            return float(attrs[self.name])
        if self.op == "rank":
            return float(sum(name.rpartition(".")[0] == self.name for name in attrs))
        if self.op == "extent":
            return float(math.prod(sizes[g] for g in self.name.split("*") if g))
        return _computed(self.op, [a.evaluate(attrs, sizes) for a in self.args])

    def __str__(self) -> str:
        if self.op == "const":
            return repr(self.value).removesuffix(".0")
        if self.op == "rank":
            return f"rank of {self.name}"
        if self.op in ("attr", "extent"):
            return self.name or "1"
        if self.op in _SIGNS:
            return f"({self.args[0]} {_SIGNS[self.op]} {self.args[1]})"
        return f"{self.op}({', '.join(map(str, self.args))})"


def number(value: float) -> Scalar:
    """A constant."""
    return Scalar("const", value=float(value))


def combined(op: str, *args: Scalar) -> Scalar:
    """An operation, folded when all is known."""
    if op == "mul" and number(1.0) in args:
        return args[args[0] == number(1.0)]
    made = Scalar(op, args)
    known = made.constant
    return number(known) if known is not None else made


def supported(op: str) -> bool:
    """Whether numbers known before the kernel runs have this operation."""
    return op in _MEANING


def _computed(op: str, args: Sequence[float]) -> float:
    """The value of an operation; not a number where it has none."""
    try:
        found = _MEANING[op](*args)
    except (ArithmeticError, ValueError):
        return math.nan
    return found if isinstance(found, float) else math.nan


def _divided(a: float, b: float) -> float:
    return a / b if b else math.copysign(math.inf, a) if a else math.nan


_MEANING: Final[dict[str, Callable[..., float]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _divided,
    "pow": lambda a, b: a**b,  # complex where a root is none
    "max": max,
    "min": min,
    "neg": lambda a: -a,
    "abs": abs,
    "sqrt": lambda a: math.sqrt(a) if a >= 0 else math.nan,
    "exp": lambda a: math.exp(a) if a < 709 else math.inf,
    "log": lambda a: math.log(a) if a > 0 else -math.inf,
    "square": lambda a: a * a,
    "reciprocal": lambda a: _divided(1.0, a),
    "floor": lambda a: float(math.floor(a)),
    "copy": lambda a: a,
    "cast": lambda a: a,
}


def c_text(scalar: Scalar) -> str:
    """The expression in the host's C++; names of groups are `lengthA`, sizes `Dim(x, 0)`."""
    if scalar.op == "const":
        signs = {math.inf: "INFINITY", -math.inf: "-INFINITY"}
        return repr(scalar.value) if math.isfinite(scalar.value) else signs.get(scalar.value, "NAN")
    if scalar.op == "attr":
        name, _, axis = scalar.name.partition(".")
        if axis.startswith("-"):
            axis = f"{name}Shape.GetDimNum() - {axis[1:]}"
        return f"{name}Shape.GetDim({axis})" if axis else f"{name}Attr"
    if scalar.op == "rank":
        return f"static_cast<double>({scalar.name}Shape.GetDimNum())"
    if scalar.op == "extent":
        product = " * ".join(f"length{g}" for g in scalar.name.split("*") if g)
        return f"static_cast<double>({product or '1'})"
    args = [c_text(a) for a in scalar.args]
    if scalar.op == "div" and "const" not in (a.op for a in scalar.args):  # of whole numbers, too
        return f"(static_cast<double>({args[0]}) / {args[1]})"
    if scalar.op in ("add", "sub", "mul", "div"):
        return f"({args[0]} {_SIGNS[scalar.op]} {args[1]})"
    match scalar.op:
        case "neg":
            return f"(-{args[0]})"
        case "square":
            return f"({args[0]} * {args[0]})"
        case "reciprocal":
            return f"(1.0 / {args[0]})"
        case "copy" | "cast":
            return args[0]
        case "max" | "min":
            return f"std::{scalar.op}<double>({', '.join(args)})"
    return f"std::{scalar.op}({', '.join(args)})"


_SIGNS: Final = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}
