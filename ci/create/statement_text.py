"""Reads one statement of a tile program and infers what kind of value it makes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from ci.create.graph import COMPARISONS, LOGIC
from ci.create.passes.windows import Window
from ci.create.program import Argument, Statement, Value, kind_of
from ci.create.scalar_text import BadScalar, read_scalar
from ci.create.scalars import Scalar, combined, number
from ci.create.task import MOST_LETTERS, is_taken
from ci.create.tensors import Tensor, indexed
from ci.model.amount import amount

ARITHMETIC: Final = ("add", "sub", "mul", "div", "max", "min")
FUNCTIONS: Final = ("exp", "log", "sqrt", "abs", "floor", "ceil", "rint", "trunc")
FOLDS: Final = ("sum", "prod", "max", "min")
MIRRORED: Final = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
OPERATIONS: Final = (
    *ARITHMETIC, *FUNCTIONS, *COMPARISONS, *LOGIC, "not", "where", "expand", "iota",
)  # fmt: skip

_KINDS: Final = "tile|rows|cols|cell"
_STORE: Final = re.compile(r"store (\w+), (\w+)$")
_LOAD: Final = re.compile(rf"(\w+) = load (\w+)(?: \[({_KINDS})\])?$")
_FOLD: Final = re.compile(rf"(\w+) <- fold (\w+)\((\w+)\) for (all cores|each of (?:{_KINDS}))$")
_SCAN: Final = re.compile(
    r"(\w+) = (scan_(?:sum|prod|max|min))((?: reverse)?(?: exclusive)?) (rows|cols)\((\w+)\)"
    rf"(?: \[({_KINDS})\])?$"
)
_NUMBERS: Final = r"\d{1,4}(?:,\d{1,4}){0,2}"
_WINDOW: Final = re.compile(
    rf"(\w+) = (window (?:sum|max) {_NUMBERS} {_NUMBERS} {_NUMBERS}) of (\w+)$"
)
_DOT: Final = re.compile(
    rf"(\w+) = (window (?:dot|undot) {_NUMBERS} {_NUMBERS} {_NUMBERS} {_NUMBERS}(?: {_NUMBERS})?)"
    r" of (\w+) by (\w+)$"
)
_GATHER: Final = re.compile(rf"(\w+) = (gather ([A-Z])) of (\w+) by (\w+)(?: \[({_KINDS})\])?$")
_CALL: Final = re.compile(rf"(\w+) = (\w+)\((.*)\)(?: \[({_KINDS})\])?$")


class BadStatement(ValueError):
    """A text that is no statement; the message says why."""


@dataclass(frozen=True)
class Known:
    """A value with the groups that it varies over."""

    value: Value
    groups: frozenset[str]


@dataclass(frozen=True)
class Space:
    """The groups of a phase, and the tensors that it may take and fill."""

    rows: str
    cols: str
    sequential: frozenset[str]
    active: tuple[str, ...]
    order: tuple[str, ...]
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    number_known: Callable[[str], bool]

    def known(self, name: str, groups: frozenset[str], mask: bool = False) -> Known:
        """A value of that name over these groups."""
        return Known(Value(name, kind_of(groups, self.rows, self.cols), mask), groups)


def read_statement(
    text: str, visible: Mapping[str, Known], space: Space
) -> tuple[Statement, Known | None]:
    """The statement in a line, and the value that it makes; raises BadStatement."""
    reader = _Reader(visible, space)
    for pattern, read in (
        (_STORE, reader.store),
        (_LOAD, reader.load),
        (_FOLD, reader.fold),
        (_SCAN, reader.scan),
        (_WINDOW, reader.window),
        (_DOT, reader.dot),
        (_GATHER, reader.gather),
        (_CALL, reader.call),
    ):
        match = pattern.match(text)
        if match is not None:
            return read(match)
    raise BadStatement(
        "it is no statement; there are load, store, gather, fold, scan, window and calls"
    )


class _Reader:
    def __init__(self, visible: Mapping[str, Known], space: Space) -> None:
        self.visible, self.space = visible, space

    # Tensors

    def store(self, match: re.Match[str]) -> tuple[Statement, None]:
        tensor = self.space.outputs.get(match[1])
        if tensor is None:
            raise BadStatement(f"there is no output '{match[1]}'")
        value = self._value(match[2])
        if value.groups != frozenset(tensor.groups) or value.value.mask:
            raise BadStatement(
                f"'{match[2]}' {'is a mask and ' if value.value.mask else ''}varies over"
                f" {_listed(value.groups)}, output '{tensor.name}' over"
                f" {_listed(tensor.groups)}; where() turns masks into numbers, expand() repeats"
            )
        return Statement("store", None, (value.value,), tensor=tensor), None

    def load(self, match: re.Match[str]) -> tuple[Statement, Known]:
        found = self._new(match[1], frozenset(self._tensor(match[2]).groups), match[3])
        return Statement("load", found.value, tensor=self._tensor(match[2])), found

    def window(self, match: re.Match[str]) -> tuple[Statement, Known]:
        tensor, window = self._tensor(match[3], same=False), Window.read(match[2])
        sizes = {len(window.size), len(window.step), len(window.pad)}
        if len(sizes) > 1 or 0 in (*window.size, *window.step):
            raise BadStatement("a window says size, step and padding of the same axes")
        lead, inner = tensor.groups[: -len(window.size)], self.space.active[-len(window.size) :]
        if len(tensor.groups) < len(window.size) or (
            self.space.active != (*lead, *inner)
            or self.space.rows not in ("", *self.space.active[-2:-1])
        ):
            raise BadStatement(f"tiles must go along the axes of '{tensor.name}' with windows")
        found = self._new(match[1], frozenset(self.space.active), None)
        return Statement(match[2], found.value, tensor=tensor), found

    def dot(self, match: re.Match[str]) -> tuple[Statement, Known]:
        tensor, weights = (self._tensor(match[n], same=False) for n in (3, 4))
        window = Window.read(match[2])
        sizes = {len(n) for n in (window.size, window.step, window.pad, window.apart)}
        if len(sizes) > 1 or 0 in (*window.size, *window.step, *window.apart):
            raise BadStatement("a window says size, step, padding and distance of the same axes")
        inner, lengths = len(window.size), [n for n in window.size if n > 1]
        lead = weights.groups[: len(weights.groups) - len(lengths)]
        own = self.space.active[-inner:]
        seen = {*tensor.groups[:-inner], *lead, *own}
        rows = [g for g in lead if g not in tensor.groups]
        if (
            len(tensor.groups) < inner
            or len({*own} - {*tensor.groups, *weights.groups}) < inner
            or not seen <= {*self.space.active}
            or (self.space.rows, self.space.cols) != (rows[-1] if rows else "", own[-1])
        ):
            raise BadStatement(
                "tiles must go along the last axis of the windows, with rows of the last axis of"
                f" '{weights.name}' that '{tensor.name}' lacks"
            )
        found = self._new(match[1], frozenset(seen), None)
        return Statement(match[2], found.value, tensor=tensor, weights=weights), found

    def gather(self, match: re.Match[str]) -> tuple[Statement, Known]:
        tensor, places = self._tensor(match[4], same=False), self._number(match[5])
        rest = frozenset(tensor.groups) - {match[3]}
        if match[3] not in tensor.groups or not rest <= {*self.space.active}:
            raise BadStatement(
                f"'{match[4]}' is gathered along one of its groups, and tiles go along the others"
            )
        found = self._new(match[1], rest | places.groups, match[6])
        return Statement(match[2], found.value, (places.value,), tensor=indexed(tensor)), found

    def _tensor(self, name: str, *, same: bool = True) -> Tensor:
        tensor = self.space.inputs.get(name)
        if tensor is None:
            raise BadStatement(f"there is no input '{name}'")
        lacking = [g for g in tensor.groups if g not in self.space.active]
        if lacking and same:
            raise BadStatement(
                f"'{name}' varies over {', '.join(lacking)}, which this phase neither shares nor"
                " goes over"
            )
        return tensor

    # Along groups

    def fold(self, match: re.Match[str]) -> tuple[Statement, Known]:
        name, kind, given, over = match.groups()
        if kind not in FOLDS:
            raise BadStatement(f"there is no fold '{kind}'; there are {', '.join(FOLDS)}")
        arg = self._number(given)
        if over == "all cores":
            found = self._new(name, frozenset(), None)
            return Statement(f"fold {kind}", found.value, (arg.value,), total=True), found
        if not arg.groups & self.space.sequential:
            raise BadStatement(
                f"'{given}' varies over no group that this phase goes over tile by tile"
            )
        found = self._new(name, arg.groups - self.space.sequential, over.split()[-1])
        return Statement(f"fold {kind}", found.value, (arg.value,)), found

    def scan(self, match: re.Match[str]) -> tuple[Statement, Known]:
        name, kind, words, way, given, said = match.groups()
        arg, space = self._number(given), self.space
        along = space.rows if way == "rows" else space.cols
        if along not in space.sequential or along not in arg.groups:
            raise BadStatement(f"a scan along {way} needs a loop over tiles of that group")
        found = self._new(name, arg.groups, said)
        over = kind_of(arg.groups - {along}, space.rows, space.cols)
        carry = Value(f"carry_{name}", "cell" if over == "tile" else over)
        return Statement(f"{kind}{words} {way}", found.value, (arg.value,), carry=carry), found

    # Element by element

    def call(self, match: re.Match[str]) -> tuple[Statement, Known]:
        name, op, given, said = match.groups()
        args = [self._argument(a) for a in _split(given)]
        if op not in OPERATIONS:
            raise BadStatement(f"there is no operation '{op}'; there are {', '.join(OPERATIONS)}")
        count = {"where": 3, "iota": 0}.get(op, 1 if op in (*FUNCTIONS, "not", "expand") else 2)
        if len(args) != count:
            raise BadStatement(f"'{op}' takes {amount(count, 'argument')}")
        if op == "iota":
            return self._iota(name, said)
        if op == "expand":
            return self._expanded(name, args[0], said)
        values = [a for a in args if isinstance(a, Known)]
        if not values:
            raise BadStatement("all its arguments are numbers; write the number itself")
        masks = 1 if op == "where" else len(args) if op in (*LOGIC, "not") else 0
        self._check_masks(op, args, masks)
        groups = frozenset().union(*(v.groups for v in values))
        if op in (*COMPARISONS, *LOGIC, "where") and any(v.groups != groups for v in values):
            raise BadStatement(
                f"what '{op}' takes must vary over the same groups; expand() repeats a value,"
                " and eq(a, b) is eq(sub(a, b), 0)"
            )
        found = self._new(name, groups, said, mask=op in (*COMPARISONS, *LOGIC, "not"))
        plain = tuple(a.value if isinstance(a, Known) else a for a in args)
        op, plain = _usual(op, plain)
        return Statement(op, found.value, plain), found

    def _check_masks(self, op: str, args: list[Known | Scalar], masks: int) -> None:
        for place, arg in enumerate(args):
            is_mask = isinstance(arg, Known) and arg.value.mask
            if is_mask != (place < masks):
                what = "a mask (of a comparison)" if place < masks else "a number, not a mask"
                raise BadStatement(f"argument {place + 1} of '{op}' must be {what}")

    def _iota(self, name: str, said: str | None) -> tuple[Statement, Known]:
        group = {"rows": self.space.rows, "cols": self.space.cols}.get(said or "", "")
        if not group:
            raise BadStatement("write `iota() [cols]` or `iota() [rows]`: the places along it")
        found = self._new(name, frozenset({group}), said)
        return Statement("iota", found.value), found

    def _expanded(
        self, name: str, arg: Known | Scalar, said: str | None
    ) -> tuple[Statement, Known]:
        space = self.space
        groups = {"tile": {space.rows, space.cols}, "rows": {space.rows}, "cols": {space.cols}}
        if said is None or (said == "rows" and not space.rows):
            raise BadStatement("write `expand(a) [tile]`, `[cols]` or `[rows]`: what it becomes")
        own = arg.groups if isinstance(arg, Known) else frozenset[str]()
        if isinstance(arg, Known) and arg.value.mask:
            raise BadStatement("a mask cannot be expanded; expand what is compared")
        wide = frozenset(groups.get(said, set()) - {""}) | own
        if isinstance(arg, Scalar) and said != "cell":  # a number fills what the phase has
            wide |= frozenset(space.active) - {space.rows, space.cols}
        found = self._new(name, wide, said)
        given = arg.value if isinstance(arg, Known) else arg
        return Statement("expand", found.value, (given,)), found

    # Names

    def _new(
        self, name: str, groups: frozenset[str], said: str | None, *, mask: bool = False
    ) -> Known:
        found = self.space.known(_own(name), groups, mask)
        if said is not None and said != found.value.kind:
            raise BadStatement(
                f"'{name}' varies over {_listed(groups)}, so it is of kind {found.value.kind},"
                f" not {said}"
            )
        return found

    def _value(self, name: str) -> Known:
        if _own(name) not in self.visible:
            raise BadStatement(
                f"'{name}' is not known here: it is never computed, comes later, or is a value of"
                " another sweep (load it again; what a fold leaves is known after its loop)"
            )
        return self.visible[_own(name)]

    def _number(self, name: str) -> Known:
        found = self._value(name)
        if found.value.mask:
            raise BadStatement(f"'{name}' is a mask; where({name}, 1, 0) makes numbers of it")
        return found

    def _argument(self, text: str) -> Known | Scalar:
        if _own(text) in self.visible:
            return self.visible[_own(text)]
        try:
            return read_scalar(text, self.space.order, self.space.number_known)
        except BadScalar as problem:
            if re.fullmatch(r"\w+", text):
                self._value(text)
            raise BadStatement(
                f"{problem} An argument is a value or a number; give what is computed a line of"
                " its own"
            ) from None


def _own(name: str) -> str:
    """The name of a value in the kernel, which has some names for other things."""
    return f"v_{name}"[:MOST_LETTERS] if is_taken(name) else name


def _usual(op: str, args: tuple[Argument, ...]) -> tuple[str, tuple[Argument, ...]]:
    """The operation with a number as its second argument where the vector unit has that."""
    if op in MIRRORED and isinstance(args[0], Scalar):
        return MIRRORED[op], args[::-1]
    if op in ("add", "mul", "max", "min") and isinstance(args[0], Scalar):
        return op, args[::-1]
    if op == "sub" and isinstance(args[1], Scalar):
        return "add", (args[0], combined("neg", args[1]))
    if op == "div" and isinstance(args[1], Scalar):
        return "mul", (args[0], combined("div", number(1), args[1]))
    return op, args


def _split(text: str) -> list[str]:
    """Arguments, separated by commas outside of brackets."""
    found, depth, start = [], 0, 0
    for place, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            found.append(text[start:place].strip())
            start = place + 1
    rest = text[start:].strip()
    return [*found, rest] if rest or found else []


def _listed(groups: object) -> str:
    return ", ".join(sorted(groups)) or "no group"  # type: ignore[call-overload]
