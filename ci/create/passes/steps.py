"""Ranges in steps along the last axis: read as runs, out of which their elements are gathered."""

from __future__ import annotations

from ci.create.passes.base import Plan, Pool, Room, Slot, SlotKind, Step, broken
from ci.create.program import Statement

_NARROW = ("float16", "bfloat16", "int16")


def in_steps(statement: Statement) -> bool:
    """Whether a statement loads elements that lie apart in memory."""
    value, tensor = statement.value, statement.tensor
    if statement.op != "load" or value is None or tensor is None:
        return False
    return value.kind != "cell" and tensor.gathered


def room(statement: Statement) -> Room:
    """Elements of the queue's buffer: for rows those between the gathered ones, too."""
    assert statement.tensor is not None and statement.value is not None
    step = statement.tensor.step(statement.tensor.groups[-1])
    match statement.value.kind:
        case "tile":
            return Room(step, 32, 0, 32)
        case "rows":
            return Room(0, step, 0, 32)
    return Room(0, 0, step, 32)


def together(one: Room, other: Room) -> Room:
    """A buffer that has room for either."""
    return Room(
        max(one.tile, other.tile),
        max(one.row, other.row),
        max(one.column, other.column),
        max(one.fixed, other.fixed),
    )


def taken(plan: Plan, statement: Statement, queue: str, kind: str, home: str) -> Step:
    """The elements gathered into a buffer of their own, as float. `kind` is their C++ type.

    Raises InputError for elements that no gather takes.
    """
    value, tensor = statement.value, statement.tensor
    assert value is not None and tensor is not None
    if tensor.dtype not in ("T", "float32", "int32", *_NARROW):
        raise broken(
            plan,
            f"'{tensor.memory}' is {tensor.dtype} and read in steps along its last axis;"
            " elements of 2 or 4 bytes can be.",
        )
    if value.kind == "tile" and plan.phase.turns(tensor):
        raise broken(
            plan, f"'{tensor.memory}' is read in steps along an axis that is turned round."
        )
    step = tensor.step(tensor.groups[-1])
    along: SlotKind = "rows" if value.kind == "rows" else "cols"
    index = f"{along}Step{step}" + ("" if tensor.dtype == "T" else tensor.dtype.capitalize())
    plan.slots.setdefault(index, Slot(index, along))
    plan.setup[index] = [f"Multiples<{kind}>({index}, {step});"]
    work = home
    if tensor.dtype in ("T", *_NARROW):
        work = f"{value.kind}Step" + ("" if tensor.dtype == "T" else "Narrow")
        pool: Pool = "narrow" if tensor.dtype == "T" else "calc"
        plan.slots.setdefault(work, Slot(work, value.kind, pool))
    plan.helpers |= {"TakeSteps", "Multiples"}
    sizes = {"tile": "rows, cols, width", "rows": "1, rows, rows", "cols": "1, cols, pitch"}
    line = f"TakeSteps<{kind}>({home}, {queue}, {work}, {index}, {step}, {sizes[value.kind]});"
    return Step([line], frozenset(), frozenset([home, work]), str(statement))
