"""A tile program: what each core does with tiles, with symbolic sizes and without instructions.

A program has phases, with a meeting of all cores between two. A phase goes over *units*, which the
cores share; a unit goes over its *sequential* groups in sweeps, tile by tile. Tiles have two axes:
`cols`, the innermost group, contiguous in memory, and `rows`, the group around it. A value varies
over both (a tile), over one of them, or over none (a cell); over further groups it has one
value a unit or step.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from ci.create.scalars import Scalar
from ci.create.tensors import Group, Tensor

Kind = Literal["tile", "rows", "cols", "cell"]


def kind_of(groups: Collection[str], rows: str, cols: str) -> Kind:
    """What a value over these groups is, where tiles have these rows and columns."""
    if cols in groups and (rows in groups or not rows):
        return "tile"
    return "rows" if rows in groups else "cols" if cols in groups else "cell"


@dataclass(frozen=True)
class Value:
    """Something that statements compute and take."""

    name: str
    kind: Kind
    mask: bool = False

    def __str__(self) -> str:
        return self.name


Argument = Value | Scalar


@dataclass(frozen=True)
class Statement:
    """`value = op(args)`; of a load and a store `tensor` is the other side. Several values of a
    store take turns along its last axis.

    A fold adds what it finds in a tile to `value`, which begins as the neutral element: of a unit,
    or of the whole phase when it is a total. A scan carries `carry` from tile to tile. `gather A`
    takes what lies in `tensor` at places along its group A, which its one argument holds.
    """

    op: str
    value: Value | None = None
    args: tuple[Argument, ...] = ()
    tensor: Tensor | None = None
    weights: Tensor | None = None
    """The tensor that windows of `tensor` are multiplied by."""
    total: bool = False
    carry: Value | None = None

    @property
    def gathers(self) -> bool:
        """Whether it takes what lies at places that its argument holds."""
        return self.op.startswith("gather ")

    def __str__(self) -> str:
        given = ", ".join(map(str, self.args))
        if self.op == "load" and self.tensor:
            return f"{self.value} = load {self.tensor.text} [{self.value and self.value.kind}]"
        if self.op == "store" and self.tensor:
            return f"store {self.tensor.text}, {given}"
        if self.gathers and self.tensor:
            tensor = self.tensor
            places = f"of {tensor.text if tensor.runs else tensor.memory} by {given}"
            return f"{self.value} = {self.op} {places} [{self.value and self.value.kind}]"
        if self.tensor is not None:
            by = f" by {self.weights.name}" if self.weights else ""
            return f"{self.value} = {self.op} of {self.tensor.name}{by}"
        if self.op.startswith("fold"):
            over = "all cores" if self.total else f"each of {self.value and self.value.kind}"
            return f"{self.value} <- {self.op}({given}) for {over}"
        return f"{self.value} = {self.op}({given}) [{self.value and self.value.kind}]"


@dataclass(frozen=True)
class Sweep:
    """One way over the sequential groups, then what is computed once of what it left."""

    body: tuple[Statement, ...]
    settle: tuple[Statement, ...]


@dataclass(frozen=True)
class Phase:
    """Work between two meetings of the cores."""

    number: int
    cols: str
    """The group that tiles have innermost; '' where there are no tiles: core 0 does it alone."""
    rows: str
    outer: tuple[str, ...]
    sequential: tuple[str, ...]
    prelude: tuple[Statement, ...]
    sweeps: tuple[Sweep, ...]
    values: tuple[tuple[str, tuple[str, ...]], ...]
    """For each value the groups that it varies over."""

    @property
    def groups(self) -> tuple[str, ...]:
        """Outermost first."""
        return tuple(g for g in (*self.outer, self.rows, self.cols) if g)

    def turns(self, tensor: Tensor) -> bool:
        """Whether a tensor has the rows of tiles innermost, so that tiles of it are turned."""
        return {self.rows, self.cols} <= set(tensor.groups) and tensor.groups[-1] == self.rows

    @property
    def kept(self) -> tuple[str, ...]:
        """The groups that cores share."""
        return tuple(g for g in self.groups if g not in self.sequential)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All of them in order."""
        inner = [s for sweep in self.sweeps for s in (*sweep.body, *sweep.settle)]
        return (*self.prelude, *inner)

    @property
    def resident(self) -> tuple[Statement, ...]:
        """What a unit does when its sequential groups fit one tile: all once, nothing again."""
        return tuple(dict.fromkeys(self.statements))

    @property
    def totals(self) -> tuple[Statement, ...]:
        """Folds over all cores that end with this phase."""
        return tuple(dict.fromkeys(s for s in self.statements if s.total))


@dataclass(frozen=True)
class Program:
    """A whole operator."""

    name: str
    groups: tuple[Group, ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    phases: tuple[Phase, ...]
    kept: tuple[Tensor, ...] = ()
    """What phases leave to later ones in the workspace."""

    def meets(self, phase: Phase) -> bool:
        """Whether all cores meet when a phase is done: what it leaves is of use to others then."""
        leaves = any(s.op == "store" and s.tensor and s.tensor.kept for s in phase.statements)
        return leaves or bool(phase.totals)

    def group(self, name: str) -> Group:
        """The group of that name."""
        return next(g for g in self.groups if g.name == name)

    def text(self) -> str:
        """The program as a person reads it."""
        takes = ", ".join(f"{t.name}: {t.dtype}[{', '.join(t.groups)}]" for t in self.inputs)
        gives = ", ".join(f"{t.name}: {t.dtype}[{', '.join(t.groups)}]" for t in self.outputs)
        lines = [f"program {self.name}({takes}) -> {gives}"]
        lines += [f"  {g.name} = {g.size}" for g in self.groups]
        for phase in self.phases:
            lines.append("")
            if phase.number and self.meets(self.phases[phase.number - 1]):
                lines.append("  all cores meet")
            if not phase.groups:
                lines.append("  on one core:")
            else:
                rows = f" with rows of {phase.rows}" if phase.rows else ""
                shared = " x ".join(phase.kept) or "nothing"
                lines.append(f"  cores share {shared}; tiles along {phase.cols}{rows}:")
            lines += [f"    {s}" for s in phase.prelude]
            for sweep in phase.sweeps:
                if sweep.body:
                    over = " x ".join(phase.sequential)
                    lines.append(f"    for tiles of {over}:" if over else "    tile:")
                    lines += [f"      {s}" for s in sweep.body]
                lines += [f"    {s}" for s in sweep.settle]
        return "\n".join(lines) + "\n"
