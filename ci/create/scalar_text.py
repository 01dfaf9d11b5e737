"""Reads the numbers of a tile program's text: an expression of constants, attributes and sizes.

The text may be a model's: it is read by the grammar below, and nothing in it is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from typing import Final

from ci.create.scalars import Scalar, combined, number, supported

DEEPEST: Final = 40
"""Brackets within brackets."""

MOST_PARTS: Final = 200
"""Names, numbers and signs: a chain of them is as deep a tree as it is long."""

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf\b|nan\b)"
    r"|(?P<name>[A-Za-z_]\w*(?:\.\d+|(?:\*[A-Z]\b)+)?)|(?P<sign>\*\*|[-+*/(),]))"
)
_COUNT: Final = {"pow": 2, "max": 2, "min": 2, "add": 2, "sub": 2, "mul": 2, "div": 2}
_BINDING: Final = {"+": (1, "add"), "-": (1, "sub"), "*": (2, "mul"), "/": (2, "div")} | {
    "**": (4, "pow")
}
_BEFORE: Final = 3
"""A sign before a term binds closer than a product, and less than a power."""


class BadScalar(ValueError):
    """A text that is no such expression; the message says why."""


def read_scalar(text: str, groups: Container[str], known: Callable[[str], bool]) -> Scalar:
    """The expression in a text; `known` says whether a name is an attribute or `input.axis`.

    Raises BadScalar.
    """
    reader = _Reader(_tokens(text), groups, known)
    found = reader.expression(0, 0)
    if reader.left:
        raise BadScalar(f"'{reader.left[0][1]}' is too much in '{text}'.")
    return found


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise BadScalar(f"'{text[at:].strip()[:20]}' is no part of an expression.")
        found.append((match.lastgroup, match.group(match.lastgroup)))
        at = match.end()
    if len(found) > MOST_PARTS:
        raise BadScalar(f"An expression has more than {MOST_PARTS} names, numbers and signs.")
    return found


class _Reader:
    def __init__(
        self, left: list[tuple[str, str]], groups: Container[str], known: Callable[[str], bool]
    ) -> None:
        self.left, self.groups, self.known = left, groups, known

    def expression(self, least: int, depth: int) -> Scalar:
        """Operations that bind at least as close as `least`."""
        if depth > DEEPEST:
            raise BadScalar(f"An expression has more than {DEEPEST} levels of brackets.")
        found = self._term(depth)
        while self.left and self.left[0][0] == "sign" and self.left[0][1] in _BINDING:
            binding, op = _BINDING[self.left[0][1]]
            if binding < least:
                break
            self.left.pop(0)
            other = self.expression(binding if op == "pow" else binding + 1, depth + 1)
            found = Scalar(op, (found, other))
        return found

    def _term(self, depth: int) -> Scalar:
        kind, text = self._next()
        if kind == "number":
            return number(float(text))
        if text == "-":
            negated = self.expression(_BEFORE, depth + 1)
            return combined("neg", negated)
        if text == "(":
            found = self.expression(0, depth + 1)
            self._expect(")")
            return found
        if kind != "name":
            raise BadScalar(f"'{text}' stands where a number is needed.")
        if self.left and self.left[0] == ("sign", "("):
            return self._call(text, depth)
        if all(part in self.groups for part in text.split("*")):
            return Scalar("extent", name=text)
        if not self.known(text):
            raise BadScalar(f"'{text}' is no value, attribute or group that is known here.")
        return Scalar("attr", name=text)

    def _call(self, op: str, depth: int) -> Scalar:
        if not supported(op):
            raise BadScalar(f"Numbers that are known before the kernel runs have no '{op}'.")
        self._expect("(")
        args = [self.expression(0, depth + 1)]
        while self.left and self.left[0] == ("sign", ","):
            self.left.pop(0)
            args.append(self.expression(0, depth + 1))
        self._expect(")")
        if len(args) != _COUNT.get(op, 1):
            raise BadScalar(f"'{op}' of numbers takes {_COUNT.get(op, 1)} of them.")
        return Scalar(op, tuple(args))

    def _next(self) -> tuple[str, str]:
        if not self.left:
            raise BadScalar("An expression ends too early.")
        return self.left.pop(0)

    def _expect(self, sign: str) -> None:
        if self._next() != ("sign", sign):
            raise BadScalar(f"A '{sign}' is missing in an expression.")
