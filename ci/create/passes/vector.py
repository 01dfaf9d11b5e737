"""Vector instructions: each operation in calls that stay within their limits of mask and repeat."""

from __future__ import annotations

from typing import Final

from ci.create.passes.base import Plan, Region, Room, Slot, SlotKind, Step, broken
from ci.create.passes.copies import queue_of, type_of
from ci.create.passes.windows import DOT, UNDOT, Window
from ci.create.program import Argument, Statement, Value
from ci.create.scalars import Scalar
from ci.create.tensors import Tensor
from ci.model.errors import InputError

OPS: Final = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "max": "Max", "min": "Min"}
BY_SCALAR: Final = {"add": "Adds", "mul": "Muls", "max": "Maxs", "min": "Mins"}
UNARY: Final = {"exp": "Exp", "log": "Ln", "sqrt": "Sqrt", "abs": "Abs"}
ROUNDINGS: Final = {"floor": "FLOOR", "ceil": "CEIL", "rint": "RINT", "trunc": "TRUNC"}
FOLDS: Final = {"sum": ("Add", "0.0f"), "prod": ("Mul", "1.0f")} | {
    "max": ("Max", "-INFINITY_F"),
    "min": ("Min", "INFINITY_F"),
}
MODES: Final = {c: c.upper() for c in ("lt", "le", "gt", "ge", "eq", "ne")}
COUNTS: Final = {"tile": "count", "rows": "rows", "cols": "pitch", "cell": "8"}


_SCAN_SLOTS: Final[tuple[tuple[str, SlotKind], ...]] = (
    ("scanLines", "lines"),
    ("scanDown", "rows"),
    ("scanAlong", "cols"),
    ("rampRows", "rows"),
    ("rampCols", "cols"),
)


def vector(plan: Plan) -> None:
    """Fill what becomes of everything but loads and stores.

    Checks that what meets is of kinds that the instructions can bring together.
    """
    wide = _needs_spreading(plan)
    for region in plan.regions:
        for place, statement in enumerate(region.statements):
            if statement.op in ("load", "store") or statement.gathers:
                continue
            writer = _Writer(plan, region, statement)
            region.at.setdefault(place, []).append(writer.step())
            if not statement.op.startswith("fold") or (plan.resident and not statement.total):
                _spread(plan, statement.value, wide, region.at[place])
        for place, statement in enumerate(region.statements):
            if statement.op == "load" or statement.gathers:
                _spread(plan, statement.value, wide, region.at.setdefault(place, []), late=True)
            if statement.op.startswith("fold") and not statement.total and region.loops:
                _Writer(plan, region, statement).around()
                _spread(plan, statement.value, wide, region.after)


def _needs_spreading(plan: Plan) -> set[str]:
    """Values with one number a row that meet tiles."""
    return {
        arg.name
        for statement in plan.phase.statements
        if statement.value is not None and statement.value.kind == "tile" and not statement.gathers
        for arg in statement.args
        if isinstance(arg, Value) and arg.kind == "rows"
    }


def _spread(
    plan: Plan, value: Value | None, wide: set[str], steps: list[Step], *, late: bool = False
) -> None:
    if value is None or value.name not in wide:
        return
    home = plan.homes[value.name]
    name = home + "Wide"
    if name not in plan.slots:
        plan.slots[name] = Slot(name, "wide")
    lines = [f"Spread({name}, {home}, rows);"]
    plan.helpers.add("Spread")
    steps.append(Step(lines, frozenset([home]), frozenset([name])))


class _Writer:
    def __init__(self, plan: Plan, region: Region, statement: Statement) -> None:
        self.plan, self.region, self.statement = plan, region, statement
        self.reads: set[str] = set()
        self.writes: set[str] = set()

    def step(self) -> Step:
        """The calls of one statement."""
        statement = self.statement
        op, value = statement.op, statement.value
        assert value is not None
        if op.startswith("fold "):
            lines = self._folded(op.removeprefix("fold "), value)
        elif op.startswith("window"):
            lines = self._windowed(value)
        elif op.startswith("scan_"):
            lines = self._scanned(value)
        elif value.mask:
            lines = self._mask(value)
        else:
            lines = self._elementwise(op, value)
        return Step(lines, frozenset(self.reads), frozenset(self.writes), str(statement))

    def around(self) -> None:
        """What a fold over tiles needs before the loops and after them."""
        statement, value = self.statement, self.statement.value
        assert value is not None
        kind = statement.op.removeprefix("fold ")
        home = self._accumulator(value)
        neutral = FOLDS[kind][1]
        count = COUNTS[value.kind]
        self.region.before.append(
            Step([f"Duplicate({home}, {neutral}, {count});"], frozenset(), frozenset([home]))
        )
        if value.kind == "cell":
            self.plan.helpers.add("Spread")
            own = self.plan.homes[value.name]
            self.region.after.append(
                Step([f"Spread({own}, {home}, 8);"], frozenset([home]), frozenset([own]))
            )

    # Names

    def _at(self, value: Argument) -> str:
        if isinstance(value, Scalar):
            return self.plan.literal(value)
        home = self.plan.home(self.region, value.name)
        self.reads.add(home)
        return home

    def _to(self, value: Value) -> str:
        home = self.plan.home(self.region, value.name)
        self.writes.add(home)
        return home

    def _work(self, kind: str) -> str:
        name = f"{kind}Work"
        slot_kind = {"tile": "tile", "rows": "rows", "cell": "cell", "count": "cell"}[kind]
        self.plan.slots.setdefault(name, Slot(name, slot_kind))  # type: ignore[arg-type]
        self.writes.add(name)
        return name

    def _accumulator(self, value: Value) -> str:
        """Where a fold over several tiles collects; a cell is spread over its lanes at the end."""
        home = self.plan.homes[value.name]
        if value.kind != "cell":
            return home
        name = home + "Sum"
        self.plan.slots.setdefault(name, Slot(name, "cell"))
        return name

    # Elementwise

    def _elementwise(self, op: str, value: Value) -> list[str]:
        args = self.statement.args
        count = COUNTS[value.kind]
        if op in UNARY:
            source = self._at(args[0])
            return [f"{UNARY[op]}({self._to(value)}, {source}, {count});"]
        if op in ROUNDINGS:
            source = self._at(args[0])
            mode = f"RoundMode::CAST_{ROUNDINGS[op]}"
            return [f"Cast({self._to(value)}, {source}, {mode}, {count});"]
        if op == "iota":
            if value.kind == "cell":
                (group,) = self.plan.varies(value.name)
                place = f"static_cast<float>(at{group})"
                return [f"Duplicate({self._to(value)}, {place}, {count});"]
            rows = value.kind == "rows"
            start = "rowStart" if rows else "colStart"
            ramp = self._extra("rampRows", "rows") if rows else self._extra("rampCols", "cols")
            self.writes.discard(ramp)
            target = self._to(value)
            whole = f"{ramp}.ReinterpretCast<int32_t>()"
            return [
                f"Cast({target}, {whole}, RoundMode::CAST_RINT, {count});",
                "PipeBarrier<PIPE_V>();",
                f"Adds({target}, {target}, static_cast<float>({start}), {count});",
            ]
        if op == "expand":
            return self._expanded(value, args[0])
        if op == "where":
            return self._chosen(value, args)
        if op in OPS:
            return self._binary(op, value, args[0], args[1])
        raise broken(self.plan, f"the vector unit has no '{op}'.")

    def _binary(self, op: str, value: Value, a: Argument, b: Argument) -> list[str]:
        count = COUNTS[value.kind]
        if isinstance(b, Scalar):
            source = self._at(a)
            return [f"{BY_SCALAR[op]}({self._to(value)}, {source}, {self._at(b)}, {count});"]
        if isinstance(a, Scalar):
            source, target = self._at(b), self._to(value)
            if op == "sub":
                return [
                    f"Muls({target}, {source}, -1.0f, {count});",
                    "PipeBarrier<PIPE_V>();",
                    f"Adds({target}, {target}, {self._at(a)}, {count});",
                ]
            return [
                f"Duplicate({target}, {self._at(a)}, {count});",
                "PipeBarrier<PIPE_V>();",
                f"Div({target}, {target}, {source}, {count});",
            ]
        if a.kind == b.kind == value.kind:
            left, right = self._at(a), self._at(b)
            return [f"{OPS[op]}({self._to(value)}, {left}, {right}, {count});"]
        swapped = a.kind != value.kind
        whole, part = (b, a) if swapped else (a, b)
        if whole.kind != value.kind:  # one number a row meets one a column
            rows, cols = (a, b) if a.kind == "rows" else (b, a)
            target = self._to(value)
            lines = [*self._expanded(value, rows), "PipeBarrier<PIPE_V>();"]
            return [*lines, self._joined(op, target, target, cols, value.kind, rows is b)]
        source = self._at(whole)
        return [self._joined(op, self._to(value), source, part, value.kind, swapped)]

    def _joined(
        self, op: str, target: str, source: str, part: Value, kind: str, swapped: bool
    ) -> str:
        """`source` op a value that has one number a row, a column, or in all."""
        template = f"<Op::{OPS[op].upper()}{', true' if swapped else ''}>"
        if part.kind == "rows" and kind == "tile":
            wide = self._at(part) + "Wide"
            self.reads.add(wide)
            self.plan.helpers.add("RowOp")
            return f"RowOp{template}({target}, {source}, {wide}, rows, width, pitch);"
        if part.kind == "cols" and kind == "tile":
            self.plan.helpers.add("ColOp")
            return f"ColOp{template}({target}, {source}, {self._at(part)}, rows, width, pitch);"
        if part.kind == "cell":
            self.plan.helpers.add("RowOp")
            one = f"1, {COUNTS[kind]}, {COUNTS[kind]}"
            return f"RowOp{template}({target}, {source}, {self._at(part)}, {one});"
        raise broken(self.plan, f"'{part.name}' of kind {part.kind} cannot meet a {kind}.")

    def _expanded(self, value: Value, given: Argument) -> list[str]:
        target, count = self._to(value), COUNTS[value.kind]
        if isinstance(given, Scalar):
            return [f"Duplicate({target}, {self._at(given)}, {count});"]
        if given.kind == value.kind:
            return [f"Muls({target}, {self._at(given)}, 1.0f, {count});"]
        return [
            f"Duplicate({target}, 0.0f, {count});",
            "PipeBarrier<PIPE_V>();",
            self._joined("add", target, target, given, value.kind, False),
        ]

    # Masks

    def _mask(self, value: Value) -> list[str]:
        op, args = self.statement.op, self.statement.args
        count = f"RoundUp({COUNTS[value.kind]}, VECTOR)"
        if op in MODES:
            left, right, target = self._at(args[0]), self._at(args[1]), self._to(value)
            call = "CompareScalar" if isinstance(args[1], Scalar) else "Compare"
            if not isinstance(args[1], Scalar) and args[1].kind != value.kind:
                raise broken(self.plan, "it compares values of different kinds.")
            return [f"{call}({target}, {left}, {right}, CMPMODE::{MODES[op]}, {count});"]
        words = f"{count} / 16"
        given = [f"{self._at(a)}.ReinterpretCast<uint16_t>()" for a in args]
        target = f"{self._to(value)}.ReinterpretCast<uint16_t>()"
        call = {"and": "And", "or": "Or", "not": "Not"}[op]
        return [f"{call}({target}, {', '.join(given)}, {words});"]

    def _chosen(self, value: Value, args: tuple[Argument, ...]) -> list[str]:
        mask, a, b = args
        bits, target, count = self._at(mask), self._to(value), COUNTS[value.kind]
        lines = []
        if isinstance(a, Scalar):
            lines = [f"Duplicate({target}, {self._at(a)}, {count});", "PipeBarrier<PIPE_V>();"]
            first = target
        else:
            first = self._at(a)
        mode = "TENSOR_SCALAR" if isinstance(b, Scalar) else "TENSOR_TENSOR"
        second = self._at(b)
        return [
            *lines,
            f"Select({target}, {bits}, {first}, {second}, SELMODE::VSEL_{mode}_MODE, {count});",
        ]

    # Folds

    def _folded(self, kind: str, value: Value) -> list[str]:
        (arg,) = self.statement.args
        assert isinstance(arg, Value)
        call = FOLDS[kind][0]
        total = self.statement.total
        several = self.region.loops or total
        target = self._accumulator(value) if several else self._to(value)
        if total:
            target = self.plan.homes[value.name]
        self.writes.add(target)
        op = f"<Op::{call.upper()}>"
        if arg.kind == value.kind and not total:
            source = self._at(arg)
            if not several:
                return [f"Muls({target}, {source}, 1.0f, {COUNTS[value.kind]});"]
            return [f"{call}({target}, {target}, {source}, {COUNTS[value.kind]});"]
        if arg.kind == "tile" and value.kind == "cols":
            self.plan.helpers.add("ColFold")
            start = (
                []
                if several
                else [
                    f"Duplicate({target}, {FOLDS[kind][1]}, pitch);",
                    "PipeBarrier<PIPE_V>();",
                ]
            )
            work = self._work("tile")
            return [*start, f"ColFold{op}({target}, {self._at(arg)}, {work}, rows, cols, pitch);"]
        if kind == "prod":
            raise broken(self.plan, "a product along the innermost axis is not lowered.")
        self.plan.helpers.add("RowFold")
        source = self._at(arg)
        lines: list[str] = []
        if arg.kind == "tile" and value.kind == "rows":
            part = self._work("rows") if several else target
            work = self._work("tile")
            lines.append(f"RowFold{op}({part}, {source}, {work}, rows, cols, pitch);")
            if several:
                lines += ["PipeBarrier<PIPE_V>();", f"{call}({target}, {target}, {part}, rows);"]
            return lines
        part = self._work("cell")
        count = "cols" if arg.kind == "cols" else COUNTS[arg.kind]
        if arg.kind == "cell":
            return [f"{call}({target}, {target}, {source}, 1);"]
        work = self._work("tile")
        if arg.kind == "tile" and self.plan.phase.rows:
            rows = self._work("rows")
            lines += [
                f"RowFold{op}({rows}, {source}, {work}, rows, cols, pitch);",
                "PipeBarrier<PIPE_V>();",
            ]
            source, count = rows, "rows"
        lines.append(f"RowFold{op}({part}, {source}, {work}, 1, {count}, {count});")
        lines.append("PipeBarrier<PIPE_V>();")
        if several:
            lines.append(f"{call}({target}, {target}, {part}, 1);")
        else:
            self.plan.helpers.add("Spread")
            lines.append(f"Spread({target}, {part}, 8);")
        return lines

    def _scanned(self, value: Value) -> list[str]:
        (arg,) = self.statement.args
        carry = self.statement.carry
        assert isinstance(arg, Value) and carry is not None
        source, target = self._at(arg), self._to(value)
        home = self.plan.homes[carry.name]
        self.writes.add(home)
        words = self.statement.op.split()
        call, neutral = FOLDS[words[0].removeprefix("scan_")]
        flags = ", ".join(str(w in words).lower() for w in ("reverse", "exclusive"))
        count = COUNTS[carry.kind] if carry.kind != "rows" else "rows"
        self.region.before.append(
            Step([f"Duplicate({home}, {neutral}, {count});"], frozenset(), frozenset([home]))
        )
        if words[-1] == "rows":
            if value.kind == "rows":
                raise InputError(
                    "It scans one number of each row down the rows, in a loop over other axes; make"
                    " an operator of the scan."
                )
            self.plan.helpers.add("RowScan")
            line = self._extra("scanLine", "cols")
            call = f"RowScan<Op::{call.upper()}, {flags}>"
            return [f"{call}({target}, {source}, {home}, {line}, rows, width, pitch);"]
        self.plan.helpers.add("ColScan")
        extra = ", ".join(self._extra(n, k) for n, k in _SCAN_SLOTS)
        places = f"{target}, {source}, {home}, {extra}"
        rows = "rows" if value.kind == "tile" else "1"
        return [f"ColScan<Op::{call.upper()}, {flags}>({places}, {rows}, cols, pitch);"]

    def _extra(self, name: str, kind: SlotKind, room: Room | None = None) -> str:
        """Room that one operation needs."""
        self.plan.slots.setdefault(name, Slot(name, kind, "calc", room))
        self.writes.add(name)
        return name

    def _windowed(self, value: Value) -> list[str]:
        """A fold of windows of a tensor, which this loads itself."""
        tensor = self.statement.tensor
        assert tensor is not None
        window = Window.read(self.statement.op)
        if self.statement.weights is not None:
            return self._dots(value, window, tensor, self.statement.weights)
        self.plan.helpers.add("Windows")
        slots = [
            self._extra("halo", "halo", window.halo),
            self._extra("haloLines", "halo", window.lines),
            self._extra("windowPart", "cols"),
            self._extra("windowIndex", "cols"),
            self._extra("rampCols", "cols"),
        ]
        call, neutral = FOLDS[window.kind]
        gm = f"{tensor.name}Gm[{window.base(self.plan.phase, tensor)}]"
        axes = ", ".join(window.axes(self.plan.phase, tensor))
        return [
            f"Windows<{type_of(tensor)}, Op::{call.upper()}>({self._to(value)},"
            f" {queue_of(tensor, False)}, {gm}, {', '.join(slots)}, {neutral}, {axes},"
            " rows, cols, pitch);"
        ]

    def _dots(self, value: Value, window: Window, tensor: Tensor, weights: Tensor) -> list[str]:
        """Sums of windows by weights, which this loads itself, too."""
        helper = "Dots" if window.kind == DOT else "Undots"
        self.plan.helpers.add(helper)
        names = ["windowPart", "windowIndex", "rampCols"]
        names += ["windowHit"] if window.kind == UNDOT else []
        slots = [self._extra("halo", "halo", window.halo), *(self._extra(n, "cols") for n in names)]
        groups = self.plan.varies(value.name)
        planes, at, row, *axes = window.weighted(self.plan.phase, tensor, weights, groups)
        return [
            f"{helper}<{type_of(tensor)}, {type_of(weights)}>({self._to(value)},"
            f" {queue_of(tensor, False)}, {tensor.name}Gm[{planes}], {weights.name}Gm[{at}],"
            f" {row}, {', '.join(slots)}, {', '.join(axes)}, rows, cols, pitch);"
        ]
