"""What the passes hand on: a plan of a phase that each of them completes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from ci.create.program import Phase, Program, Statement
from ci.create.scalars import Scalar
from ci.create.tensors import Tensor
from ci.model.errors import InputError

Pool = Literal["calc", "narrow"]
SlotKind = Literal["tile", "mask", "rows", "wide", "cols", "cell", "lines", "turned", "halo"]

BYTES = {
    "T": 0,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int32": 4,
    "int64": 8,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
    "int16": 2,
}
"""Bytes of an element; `T` is the dtype that the operator is built for, 4 or 2."""

VECTOR = 64
"""Elements of float32 in one repeat of a vector instruction."""


@dataclass(frozen=True)
class Room:
    """Elements of a buffer for each element, row and column of a tile, and in any case."""

    tile: int
    row: int
    column: int
    fixed: int

    @property
    def text(self) -> str:
        """In the kernel."""
        return (
            f"({self.tile} * tiling.tile + {self.row} * tiling.tileRows"
            f" + {self.column} * tiling.tileCols + {self.fixed})"
        )


@dataclass(frozen=True)
class Slot:
    """A buffer in UB. Of the pool `narrow` there is none when T is float."""

    name: str
    kind: SlotKind
    pool: Pool = "calc"
    room: Room | None = None
    """Room of the kind halo: elements that it takes."""


@dataclass
class Step:
    """Some lines of the kernel with the local tensors that the vector unit reads and writes."""

    lines: list[str]
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    comment: str = ""


@dataclass
class Region:
    """Statements in a row. `loops`: they stand inside the loops over the sequential groups."""

    statements: tuple[Statement, ...]
    loops: bool
    backwards: bool = False
    before: list[Step] = field(default_factory=list)
    """Before the loops."""
    issued: list[Step] = field(default_factory=list)
    """The loads, before anything is computed."""
    steps: list[Step] = field(default_factory=list)
    after: list[Step] = field(default_factory=list)
    """After the loops."""
    at: dict[int, list[Step]] = field(default_factory=dict)
    """What becomes of each statement, by its place."""
    done: dict[int, list[Step]] = field(default_factory=dict)
    """What follows a statement that was the last to need something."""
    homes: dict[str, str] = field(default_factory=dict)
    """Where the tiles of this region lie: a slot, or a name in the text."""
    aliases: dict[str, str] = field(default_factory=dict)
    """Names in the text that stand for a slot when T is narrow."""
    claimed: dict[str, Tensor] = field(default_factory=dict)
    """Values that are computed in the buffer that is copied out."""


@dataclass(frozen=True)
class Pair:
    """Two parts of a tensor that together are its rows."""

    first: Tensor
    second: Tensor
    out: bool

    @property
    def flag(self) -> str:
        """The kernel's variable that says whether they go in one copy: the lengths decide."""
        return ("storesPair" if self.out else "loadsPair") + self.first.memory.capitalize()

    @property
    def local(self) -> str:
        """The kernel's name for both in UB."""
        return ("stored" if self.out else "loaded") + self.first.memory.capitalize()

    @property
    def whole(self) -> str:
        """The group that is as long as a row."""
        return self.first.runs[-1].whole

    def condition(self, phase: Phase) -> str:
        """When they go in one copy, in the kernel's text."""
        cols, number = phase.cols, phase.number
        return (
            f"sizeof(T) == 2 && colTile{number} >= length{cols} &&"
            f" length{self.whole} == 2 * length{cols} && length{cols} % PITCH == 0 &&"
            f" length{cols} <= MAX_PAIRED && length{cols} * sizeof(T) % LINE_BYTES != 0"
        )


def widths_differ(program: Program) -> bool:
    """Whether tiles of elements of different sizes are copied, whatever the operator's dtype is:
    rows of odd length go one by one then."""
    sizes = set()
    for phase in program.phases:
        for statement in phase.statements:
            values = (statement.value, *statement.args)
            if statement.tensor and "tile" in (getattr(v, "kind", "") for v in values):
                sizes.add(BYTES[statement.tensor.dtype])
    return len(sizes - {0}) > 1


@dataclass
class Plan:
    """A phase in one of its two forms, filled by the passes."""

    program: Program
    phase: Phase
    resident: bool
    regions: list[Region] = field(default_factory=list)
    homes: dict[str, str] = field(default_factory=dict)
    """The slot of each value that is no tile."""
    slots: dict[str, Slot] = field(default_factory=dict)
    scalars: dict[Scalar, str] = field(default_factory=dict)
    """Fields of the tiling data for numbers that only the host knows; shared by all plans."""
    helpers: set[str] = field(default_factory=set)
    """Functions of the kernel's file that this plan calls."""
    owned: set[str] = field(default_factory=set)
    """Loaded values that get a buffer of their own, not the queue's."""
    setup: dict[str, list[str]] = field(default_factory=dict)
    """Lines that fill a slot before anything else, by its name."""
    pairs: list[Pair] = field(default_factory=list)
    """Parts of tensors that go in one copy where they are short."""
    once: dict[str, list[Step]] = field(default_factory=dict)
    """What is loaded before the first unit, by the value's name: it is the same for all."""

    @property
    def name(self) -> str:
        """Return the name of the kernel's method."""
        form = "" if not has_two_forms(self.phase) else "Resident" if self.resident else "Streamed"
        return f"Phase{self.phase.number}{form}"

    @property
    def one_tile(self) -> bool:
        """Whether a unit is done in one go, so that the next one can be loaded meanwhile."""
        return bool(self.phase.groups) and (self.resident or not self.phase.sequential)

    @property
    def fixed_tile(self) -> bool:
        """Whether all loops of a unit go over tiles of one place and size."""
        phase = self.phase
        return self.one_tile or not {phase.rows, phase.cols} & set(phase.sequential)

    @property
    def looped(self) -> frozenset[Statement]:
        """What is in loops over tiles."""
        inner = (region.statements for region in self.regions if region.loops)
        return frozenset().union(*inner)

    def slot(self, kind: SlotKind, pool: Pool = "calc") -> str:
        """A new buffer."""
        count = sum(s.kind == kind and s.pool == pool for s in self.slots.values())
        name = f"narrow{kind.capitalize()}{count}" if pool == "narrow" else f"{kind}{count}"
        self.slots[name] = Slot(name, kind, pool)
        return name

    def home(self, region: Region, value: str) -> str:
        """Where a value lies."""
        return region.homes.get(value) or self.homes[value]

    def literal(self, scalar: Scalar) -> str:
        """A number in the kernel's text: a literal, or a field that the host fills."""
        known = scalar.constant
        if known is not None:
            return literal(known)
        return self.scalars.setdefault(scalar, f"scalar{len(self.scalars)}")

    def varies(self, value: str) -> tuple[str, ...]:
        """The groups that a value varies over."""
        return dict(self.phase.values).get(value, ())


def literal(value: float) -> str:
    """A float constant of C++."""
    if math.isinf(value):
        return "INFINITY_F" if value > 0 else "-INFINITY_F"
    if math.isnan(value):
        return "NAN_F"
    text = f"{value:.9g}"
    return text + ("f" if "." in text or "e" in text else ".0f")


def has_two_forms(phase: Phase) -> bool:
    """Whether a phase goes over its tensors more than once, so that keeping a tile saves loads."""
    outer = set(phase.sequential) & set(phase.outer)
    scans = any(s.op.startswith("scan") for s in phase.statements)
    return sum(bool(s.body) for s in phase.sweeps) > 1 and not outer and not scans


def splits(plan: Plan) -> bool:
    """Whether several cores can do one unit, each a part of the first loop, and then join what they
    folded: the only phase with tiles, and one that folds and does not scan."""
    phase = plan.phase
    scans = any(s.carry is not None or s.op.startswith("window") for s in phase.statements)
    alone = sum(bool(p.groups) for p in plan.program.phases) == 1 and not plan.program.kept
    claims = any(region.claimed and not region.loops for region in plan.regions)
    wide = any(s.value is not None and s.value.kind == "tile" for s in folds_of(plan))
    return bool(phase.sequential) and alone and not (plan.resident or scans or claims or wide)


def folds_of(plan: Plan) -> list[Statement]:
    """What the cores of a unit join, in order: folds that are no totals."""
    loops = (region for region in plan.regions if region.loops)
    return [s for r in loops for s in r.statements if s.op.startswith("fold") and not s.total]


def same_for_all(plan: Plan, statement: Statement) -> bool:
    """Whether each unit would load the same: a cell, or columns where a tile has all of them."""
    value, tensor, phase = statement.value, statement.tensor, plan.phase
    assert value is not None and tensor is not None
    if not phase.groups:
        return False
    whole = plan.resident and phase.cols in phase.sequential
    return not tensor.groups or (whole and value.kind == "cols" and tensor.groups == (phase.cols,))


def broken(plan: Plan, what: str) -> InputError:
    """What a pass says of a program that breaks its invariant."""
    return InputError(f"{plan.program.name}, phase {plan.phase.number}: {what}")


@dataclass(frozen=True)
class Budget:
    """Bytes of UB as a function of a tile: of each element, row, column, and in any case."""

    tile: float
    row: int
    column: int
    fixed: int

    def of(self, rows: int, pitch: int) -> float:
        """Bytes for a tile of this size."""
        return self.tile * rows * pitch + self.row * rows + self.column * pitch + self.fixed
