"""Functions in terms of what the vector unit computes: sigmoid by exp, erf by a quotient."""

from __future__ import annotations

import math
from typing import Final

from ci.create.graph import COMPARISONS, Graph, Node
from ci.create.items import Items
from ci.create.scalars import Scalar, combined, number
from ci.model.errors import InputError

Value = int | Scalar

# erf(x) = x P(x²) / Q(x²) for |x| ≤ 4, to a few units in the last place of float32: the rational
# approximation that Eigen and XLA use.
ERF_NUMERATOR: Final = (
    *(-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06),
    *(-5.69250639462346e-05, -7.34990630326855e-04, -2.95459980854025e-03),
    -1.60960333262415e-02,
)
ERF_DENOMINATOR: Final = (
    *(-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03),
    *(-7.37332916720468e-03, -1.42647390514189e-02),
)
# π as 11 bits, 12 bits and the rest: the first two times a whole number below 2^12 are exact in
# float32, so that taking off whole turns loses nothing (W. Cody and W. Waite, Software Manual for
# the Elementary Functions, 1980).
PI_PARTS: Final = (3.140625, 0.0009675025939941406, 1.5099579897537296e-07)
SINE_TERMS: Final = tuple((-1) ** (n // 2) / math.factorial(n) for n in (11, 9, 7, 5, 3))
"""Sine terms of the series at zero; what is left out is 6e-8 at π/2, half a unit in the last
place."""


class Expander:
    """Writes primitive items for an operation of the graph."""

    def __init__(self, written: Items, exact: bool = False) -> None:
        """`exact`: a quotient is that, not the dividend times a reciprocal."""
        self._written, self._exact = written, exact

    def elementwise(self, node: Node, args: tuple[Value, ...], graph: Graph) -> Value:
        """The value of an elementwise node."""
        op = node.op
        if op == "cast":
            return self._cast(node.dtype, graph.nodes[node.args[0]].dtype, args[0])
        if op in COMPARISONS:
            return self._compared(op, self.numeric(args[0]), self.numeric(args[1]))
        if op in ("and", "or", "not"):
            return self._joined(op, args)
        if op == "where":
            return self._where(args)
        if node.dtype == "bool" and op == "mul":
            return self._joined("and", args)
        return self._number(op, tuple(self.numeric(a) for a in args))

    def _fewer(self, value: Value, than: Value) -> bool:
        """Whether a value has fewer elements than another one that it meets."""
        if isinstance(value, Scalar) or isinstance(than, Scalar):
            return False
        return self._written.items[value].groups < self._written.items[than].groups

    def numeric(self, value: Value) -> Value:
        """A mask as ones and zeros; anything else as it is."""
        if self._written.is_mask(value):
            return self._written.item("where", (value, number(1), number(0)))
        return value

    def _as_mask(self, value: Value) -> int:
        if isinstance(value, Scalar):
            raise InputError("It joins a mask with a number.")
        if self._written.is_mask(value):
            return value
        return self._written.item("ne", (value, number(0)), mask=True)

    def _cast(self, to: str, before: str, value: Value) -> Value:
        if to == "bool":
            return value if isinstance(value, Scalar) else self._as_mask(value)
        value = self.numeric(value)
        if "int" in to and before.startswith("float"):
            return self._number("trunc", (value,))
        return value

    def _compared(self, op: str, a: Value, b: Value) -> Value:
        mirrored = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
        if isinstance(a, Scalar):
            a, b, op = b, a, mirrored[op]
        if not isinstance(a, int):
            raise InputError("It compares two numbers that are known before; do it in Python.")
        groups = self._written.items[a].groups
        if isinstance(b, int) and self._written.items[b].groups != groups:
            if op in ("lt", "gt"):
                a, b = self._written.item("sub", (a, b)), number(0)
            else:  # infinities are equal, and their difference is no number
                groups |= self._written.items[b].groups
                a, b = self._wide(a, groups), self._wide(b, groups)
        return self._written.item(op, (a, b), mask=True)

    def _joined(self, op: str, args: tuple[Value, ...]) -> Value:
        """What and, or, not make of masks."""
        masks = [self._as_mask(a) for a in args]
        groups = frozenset().union(*(self._written.items[m].groups for m in masks))
        wide = tuple(self._wide_mask(m, groups) for m in masks)
        return self._written.item(op, wide, mask=True)

    def _wide_mask(self, mask: int, groups: frozenset[str]) -> int:
        """A mask over these groups."""
        if self._written.items[mask].groups == groups:
            return mask
        ones = self._written.item("where", (mask, number(1), number(0)))
        return self._written.item("ne", (self._wide(ones, groups), number(0)), mask=True)

    def _wide(self, value: int, groups: frozenset[str]) -> int:
        """A value over these groups."""
        if self._written.items[value].groups == groups:
            return value
        return self._written.item("expand", (value,), groups)

    def _where(self, args: tuple[Value, ...]) -> Value:
        condition = args[0]
        if isinstance(condition, Scalar):
            raise InputError("It chooses by a condition that is known before; do it in Python.")
        condition = self._as_mask(condition)
        a, b = self.numeric(args[1]), self.numeric(args[2])
        found = [self._written.items[v].groups for v in (condition, a, b) if isinstance(v, int)]
        groups = frozenset().union(*found)
        condition = self._wide_mask(condition, groups)
        both = [
            self._written.item("expand", (v,), groups)
            if isinstance(v, int) and self._written.items[v].groups != groups
            else v
            for v in (a, b)
        ]
        return self._written.item("where", (condition, *both), groups)

    def _number(self, op: str, args: tuple[Value, ...]) -> Value:
        if all(isinstance(a, Scalar) for a in args):
            return combined(op, *(a for a in args if isinstance(a, Scalar)))
        do, x = self._number, args[0]
        one = number(1)
        match op:
            case "copy":
                return x
            case "neg":
                return do("mul", (x, number(-1)))
            case "square":
                return do("mul", (x, x))
            case "reciprocal":
                return do("div", (one, x))
            case "rsqrt":
                return do("div", (one, do("sqrt", (x,))))
            case "sigmoid":
                return do("div", (one, do("add", (do("exp", (do("neg", (x,)),)), one))))
            case "tanh":  # 1 − 2 / (e^2x + 1), which is right at both ends
                e = do("exp", (do("mul", (x, number(2))),))
                return do("sub", (one, do("div", (number(2), do("add", (e, one))))))
            case "log1p":
                return do("log", (do("add", (x, one)),))
            case "expm1":
                return do("sub", (do("exp", (x,)), one))
            case "exp2":
                return do("exp", (do("mul", (x, number(math.log(2)))),))
            case "log2" | "log10":
                base = number(1 / math.log(2 if op == "log2" else 10))
                return do("mul", (do("log", (x,)), base))
            case "sinh" | "cosh":
                pair = do("exp", (x,)), do("exp", (do("neg", (x,)),))
                return do("mul", (do("sub" if op == "sinh" else "add", pair), number(0.5)))
            case "erf":
                return self._erf(x)
            case "erfc":
                return do("sub", (one, self._erf(x)))
            case "sign":
                up = self._where((self._compared("gt", x, number(0)), one, number(0)))
                down = self._where((self._compared("lt", x, number(0)), one, number(0)))
                return do("sub", (up, down))
            case "logaddexp":
                apart = do("abs", (do("sub", args),))
                rest = do("log1p", (do("exp", (do("neg", (apart,)),)),))
                return do("add", (do("max", args), rest))
            case "pow":
                return self._power(x, args[1])
            case "sub" if isinstance(args[1], Scalar):
                return do("add", (x, combined("neg", args[1])))
            case "div" if self._exact and isinstance(args[1], Scalar) and isinstance(x, int):
                divisor = self._written.item("expand", (args[1],), self._written.items[x].groups)
                return self._written.item("div", (x, divisor))
            case "div" if isinstance(args[1], Scalar):
                return do("mul", (x, combined("div", one, args[1])))
            case "div" if not self._exact and self._fewer(args[1], x):  # four products take as long
                return do("mul", (x, do("div", (one, args[1]))))
            case "add" | "mul" | "max" | "min" if isinstance(x, Scalar):
                return do(op, (args[1], x))
            case "add" if args[1] == number(0):
                return x
            case "mul" if args[1] == one:
                return x
            case "sin":
                return self._sine(x, 0.0)
            case "cos":
                return self._sine(x, 0.5)
        return self._written.item(op, args)

    def _power(self, x: Value, exponent: Value) -> Value:
        known = exponent.constant if isinstance(exponent, Scalar) else None
        if known is not None and known == int(known) and 0 < known <= 8:
            found = x
            for bit in bin(int(known))[3:]:
                found = self._number("mul", (found, found))
                found = self._number("mul", (found, x)) if bit == "1" else found
            return found
        if known == 0.5:
            return self._number("sqrt", (x,))
        if known is not None and -8 <= known < 0:
            return self._number("div", (number(1), self._power(x, number(-known))))
        if known == 0:
            return number(1)
        if isinstance(exponent, Scalar) and (known is None or known == int(known)):
            return self._whole_power(x, exponent)
        logarithm = self._number("log", (x,))  # NaN for what is below zero, as for a real power
        return self._number("exp", (self._number("mul", (logarithm, exponent)),))

    def _whole_power(self, x: Value, exponent: Scalar) -> Value:
        """A power by a number that may be whole: what is below zero has one then, with the sign of
        an odd exponent. The host computes that sign, NaN for a fraction."""
        do = self._number
        size = do("exp", (do("mul", (do("log", (do("abs", (x,)),)), exponent)),))
        pairs = combined("floor", combined("mul", exponent, number(0.5)))
        odd = combined("sub", exponent, combined("mul", pairs, number(2)))
        fraction = combined("sub", exponent, combined("floor", exponent))
        unreal = combined("sqrt", combined("neg", fraction))
        sign = combined("add", combined("sub", number(1), combined("mul", odd, number(2))), unreal)
        below = self._compared("lt", x, number(0))
        return self._where((below, do("mul", (size, sign)), size))

    def _sine(self, x: Value, ahead: float) -> Value:
        """sin(x + ahead π): half turns are taken off, and every other one turns the sign."""
        do = self._number
        turns = do("rint", (do("add", (do("mul", (x, number(1 / math.pi))), number(ahead))),))
        off = do("add", (turns, number(-ahead)))
        rest = x
        for part in PI_PARTS:
            rest = do("sub", (rest, do("mul", (off, number(part)))))
        pairs = do("floor", (do("mul", (turns, number(0.5))),))
        odd = do("sub", (turns, do("mul", (pairs, number(2)))))
        sign = do("add", (do("mul", (odd, number(-2))), number(1)))
        square = do("mul", (rest, rest))
        found: Value = number(SINE_TERMS[0])
        for term in (*SINE_TERMS[1:], 1.0):
            found = do("add", (do("mul", (found, square)), number(term)))
        return do("mul", (do("mul", (found, rest)), sign))

    def _erf(self, x: Value) -> Value:
        do = self._number
        low = do("max", (do("min", (x, number(4))), number(-4)))
        square = do("mul", (low, low))

        def polynomial(terms: tuple[float, ...]) -> Value:
            found = do("add", (do("mul", (square, number(terms[0]))), number(terms[1])))
            for term in terms[2:]:
                found = do("add", (do("mul", (found, square)), number(term)))
            return found

        upper = do("mul", (low, polynomial(ERF_NUMERATOR)))
        return do("div", (upper, polynomial(ERF_DENOMINATOR)))
