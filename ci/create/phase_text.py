"""Reads a phase of a tile program: what is computed where, and whether it can be there."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from ci.create.program import Phase, Statement, Sweep, Value
from ci.create.statement_text import BadStatement, Known, Space, read_statement
from ci.create.tensors import Tensor
from ci.model.errors import InputError

_SHARED: Final = re.compile(
    r"cores share (nothing|[A-Z](?: x [A-Z])*); tiles along ([A-Z])(?: with rows of ([A-Z]))?:$"
)
_LOOP: Final = re.compile(r"for tiles of ([A-Z](?: x [A-Z])*):$")


class BadProgram(InputError):
    """A text that is no program; the message says why, to who wrote it."""


@dataclass(frozen=True)
class Line:
    """A line of the text with its number and how far it is indented."""

    number: int
    indent: int
    text: str

    def wrong(self, what: str) -> BadProgram:
        """The mistake of this line."""
        return BadProgram(f"Line {self.number} (`{self.text[:120]}`): {what}.")


@dataclass
class Names:
    """What the phases of a program share."""

    order: tuple[str, ...]
    """All groups, outermost first."""
    inputs: dict[str, Tensor]
    outputs: dict[str, Tensor]
    number_known: Callable[[str], bool]
    totals: dict[str, Value] = field(default_factory=dict)
    """The totals of earlier phases."""
    stored: set[str] = field(default_factory=set)


def read_phase(lines: list[Line], names: Names, number: int) -> Phase:
    """The phase in these lines, of which the first says what cores share; raises BadProgram."""
    return _PhaseReader(lines, names, number).phase()


class _PhaseReader:
    def __init__(self, lines: list[Line], names: Names, number: int) -> None:
        self.head, self.lines = lines[0], lines[1:]
        self.names, self.number = names, number
        self.shared: tuple[str, ...] = ()
        self.space = self._space()
        self.visible = {n: Known(v, frozenset()) for n, v in names.totals.items()}
        self.means: dict[str, Statement] = {}
        self.groups: dict[str, frozenset[str]] = {}

    def phase(self) -> Phase:
        """All of it."""
        prelude: list[Statement] = []
        sweeps: list[Sweep] = []
        place, lines = 0, self.lines
        while place < len(lines):
            line = lines[place]
            place += 1
            if line.text != "tile:" and _LOOP.match(line.text) is None:
                statement = self._settled(line)
                if sweeps:
                    last = sweeps.pop()
                    sweeps.append(Sweep(last.body, (*last.settle, statement)))
                else:
                    prelude.append(statement)
                continue
            end = place
            while end < len(lines) and lines[end].indent > line.indent:
                end += 1
            sweeps.append(Sweep(tuple(self._body(lines[place:end])), ()))
            place = end
        space = self.space
        self.names.totals.update(
            (s.value.name, s.value) for s in self.means.values() if s.total and s.value
        )
        return Phase(
            self.number,
            space.cols,
            space.rows,
            tuple(g for g in space.active if g not in (space.rows, space.cols)),
            tuple(g for g in space.active if g in space.sequential),
            tuple(prelude),
            tuple(sweeps),
            tuple((name, tuple(sorted(groups))) for name, groups in self.groups.items()),
        )

    def _space(self) -> Space:
        names, order = self.names, self.names.order
        loops = {m[1] for line in self.lines if (m := _LOOP.match(line.text))}
        if len(loops) > 1:
            raise self.head.wrong(
                "the loops of one phase go over the same groups; others need a phase of their own"
            )
        sequential = tuple(loops.pop().split(" x ")) if loops else ()
        rows = cols = ""
        shared: tuple[str, ...] = ()
        if self.head.text != "on one core:":
            match = _SHARED.match(self.head.text)
            if match is None:
                raise self.head.wrong(
                    "a phase begins with `cores share A x B; tiles along C with rows of B:`, or"
                    " with `on one core:`"
                )
            shared = () if match[1] == "nothing" else tuple(match[1].split(" x "))
            cols, rows = match[2], match[3] or ""
        both = (*shared, *sequential)
        if any(g not in order for g in both) or len(set(both)) != len(both):
            raise self.head.wrong(
                "each group is either shared by the cores or gone over by the loops, once, and has"
                " a line of its own at the top"
            )
        active = tuple(g for g in order if g in both)
        tiled = [g for g in (rows, cols) if g]
        if bool(active) != bool(cols) or not set(tiled) <= set(active) or rows == cols != "":
            raise self.head.wrong("tiles go along groups that the phase shares or goes over")
        weighted = any(re.search(r"= window (?:un)?dot ", line.text) for line in self.lines)
        if not rows and len(active) > 1 and not weighted:
            raise self.head.wrong("of several groups one is that of the rows: `with rows of B`")
        return Space(
            rows, cols, frozenset(sequential), active, order,
            names.inputs, names.outputs, names.number_known,
        )  # fmt: skip

    def _body(self, lines: list[Line]) -> list[Statement]:
        """One sweep. What it computes is known in it alone, what it folds after it."""
        inner: dict[str, Known] = {}
        folds: dict[str, Known] = {}
        found = []
        for line in lines:
            statement, known = self._read(line, self.visible | inner)
            swept = not self.space.sequential or (
                bool(known.groups & self.space.sequential)
                if known and not statement.op.startswith("fold")
                else True
            )
            if statement.op == "store":
                swept = self._is_swept(statement)
            if not swept:
                raise line.wrong("it is the same for all tiles; write it before or after the loop")
            if known is not None:
                (folds if statement.op.startswith("fold") else inner)[known.value.name] = known
            found.append(statement)
        self.visible |= {n: k for n, k in folds.items() if not self.means[n].total}
        return found

    def _is_swept(self, statement: Statement) -> bool:
        assert statement.tensor is not None
        return not self.space.sequential or bool(
            self.space.sequential & set(statement.tensor.groups)
        )

    def _settled(self, line: Line) -> Statement:
        """A statement once a unit."""
        statement, known = self._read(line, self.visible)
        if not self.space.sequential:
            raise line.wrong("this phase has no loop: put all its statements under `tile:`")
        if statement.op.startswith("fold") and not statement.total:
            raise line.wrong("a fold belongs in a loop over tiles")
        if (known and known.groups & self.space.sequential) or (
            statement.op == "store" and self._is_swept(statement)
        ):
            raise line.wrong("it differs from tile to tile; write it in the loop")
        if known is not None and not statement.total:
            self.visible[known.value.name] = known
        return statement

    def _read(self, line: Line, visible: dict[str, Known]) -> tuple[Statement, Known | None]:
        try:
            statement, known = read_statement(line.text, visible, self.space)
        except BadStatement as problem:
            raise line.wrong(str(problem)) from None
        if known is None:
            assert statement.tensor is not None
            if statement.tensor.name in self.names.stored:
                raise line.wrong("this output is stored already")
            self.names.stored.add(statement.tensor.name)
            return statement, None
        name = known.value.name
        if self.means.setdefault(name, statement) != statement or name in self.names.totals:
            raise line.wrong(f"'{name}' is the name of something else already")
        self.groups[name] = known.groups
        return statement, known
