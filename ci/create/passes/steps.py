"""Elements that lie apart along the last axis: ranges in steps are read as runs and gathered,
values that take turns are gathered and stored as a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ci.create.passes.base import VECTOR, Plan, Pool, Room, Slot, Step, broken, same_for_all
from ci.create.program import Statement, Value
from ci.create.tensor_parts import TURNING
from ci.create.tensors import Tensor

SEVERAL = 256
"""Elements that are gathered at once where rows are shorter and lie without gaps."""

BLOCK_ELEMENTS = 16
"""Elements of two bytes in a block; those of more are fewer."""

_NARROW = ("float16", "bfloat16", "int16")


def in_steps(statement: Statement) -> bool:
    """Whether a statement loads elements that lie apart in memory."""
    value, tensor = statement.value, statement.tensor
    if statement.op != "load" or value is None or tensor is None:
        return False
    return value.kind != "cell" and tensor.gathered


def apart(plan: Plan, statement: Statement) -> str:
    """The group along which a statement loads or stores single elements, which the rest of a row
    parts; '' where there is none."""
    tensor = statement.tensor
    if statement.op not in ("load", "store") or tensor is None or not tensor.of:
        return ""
    if in_turns(statement):
        return ""
    along = "" if (kind := _kind(statement)) == "cell" else plan.phase.cols
    along = plan.phase.rows if kind == "rows" else along
    last = bool(along) and tensor.groups[-1] == along
    return along if last and tensor.behind(along) and tensor.step(along) == 1 else ""


def in_turns(statement: Statement) -> bool:
    """Whether a statement stores values whose elements take turns."""
    return statement.op == "store" and len(statement.args) > 1


def run_of(tensor: Tensor) -> tuple[Tensor, int]:
    """The tensor that begins where its steps do, and how many elements later this one begins."""
    last = tensor.runs[-1]
    later = int(last.start) % last.step if last.start.isdigit() else 0
    if not later:
        return tensor, 0
    first = replace(last, start=str(int(last.start) - later))
    return replace(tensor, name="", runs=(*tensor.runs[:-1], first)), later


def sharing(plan: Plan, statements: Sequence[Statement], own: Statement) -> list[Statement]:
    """The loads of a region that gather out of one run with this one, in order: the first of them
    copies it."""
    assert own.tensor is not None and own.value is not None
    if same_for_all(plan, own):
        return [own]
    key = run_of(own.tensor)[0].runs, own.tensor.of, own.value.kind
    return [
        one
        for one in statements
        if in_steps(one)
        and not same_for_all(plan, one)
        and one.tensor is not None
        and one.value is not None
        and (run_of(one.tensor)[0].runs, one.tensor.of, one.value.kind) == key
    ]


def leads(plan: Plan, statements: Sequence[Statement], statement: Statement) -> bool:
    """Whether a load copies what it takes."""
    return not in_steps(statement) or sharing(plan, statements, statement)[0] is statement


def span(group: Sequence[Statement]) -> int:
    """How many elements later than the first of them the last load of a run begins."""
    return max(run_of(s.tensor)[1] for s in group if s.tensor is not None)


def _kind(statement: Statement) -> str:
    (value, *_) = statement.args if statement.op == "store" else (statement.value,)
    assert isinstance(value, Value)
    return value.kind


def room(plan: Plan, statement: Statement) -> Room:
    """Elements of the queue's buffer: all from the first to the last of a row, or a block of bytes
    for each single element."""
    assert statement.tensor is not None
    if apart(plan, statement):  # blocks of a row are filled by eights
        kind, most = _kind(statement), BLOCK_ELEMENTS
        row = {"rows": most, "tile": 8 * most}.get(kind, 0)
        return Room(most * (kind == "tile"), row, most * (kind == "cols"), 8 * most)
    turns = in_turns(statement)
    if turns and _kind(statement) == "cell":
        return Room(0, 0, 0, VECTOR)
    step = len(statement.args) if turns else statement.tensor.step(statement.tensor.groups[-1])
    match _kind(statement):
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


def taken(
    plan: Plan, group: Sequence[Statement], statement: Statement, queue: str, kind: str, home: str
) -> Step:
    """The elements gathered into a buffer of their own, as float. `kind` is their C++ type; `queue`
    has the run that the group shares.

    Raises InputError for elements that no gather takes.
    """
    value, tensor = statement.value, statement.tensor
    assert value is not None and tensor is not None
    if tensor.dtype not in ("T", "float32", "int32", *_NARROW):
        raise broken(
            plan,
            f"'{tensor.memory}' is {tensor.dtype} and read in steps along its last axis or by"
            " columns; elements of 2 or 4 bytes can be.",
        )
    if value.kind == "tile" and plan.phase.turns(tensor):
        raise broken(
            plan, f"'{tensor.memory}' is read in steps along an axis that is turned round."
        )
    step, name = str(tensor.step(tensor.groups[-1])), "Step"
    if apart(plan, statement):
        step, name = f"BLOCK_BYTES / sizeof({kind})", "Apart"
    along = "rows" if value.kind == "rows" else "cols"
    index = f"{along}{name}" + (step if name == "Step" else "")
    index += "" if tensor.dtype == "T" else tensor.dtype.capitalize()
    room = Room(0, int(along == "rows"), int(along == "cols"), SEVERAL)
    plan.slots.setdefault(index, Slot(index, "halo", room=room))
    plan.setup[index] = [f"Multiples<{kind}>({index}, {step});"]
    work = home
    if tensor.dtype in ("T", *_NARROW):
        work = f"{value.kind}Step" + ("" if tensor.dtype == "T" else "Narrow")
        pool: Pool = "narrow" if tensor.dtype == "T" else "calc"
        plan.slots.setdefault(work, Slot(work, value.kind, pool))
    plan.helpers |= {"TakeSteps", "Multiples"}
    sizes = {"tile": "rows, cols, width", "rows": "1, rows, rows", "cols": "1, cols, pitch"}
    run = f"{queue}Run"
    begin, more = (0, 0) if name == "Apart" else (run_of(tensor)[1], span(group))
    given = f"{home}, {run}, {work}, {index}, {step}, {begin}, {more}"
    lines = [f"TakeSteps<{kind}>({given}, {sizes[value.kind]});"]
    if group[0] is statement:
        lines.insert(0, f"LocalTensor<{kind}> {run} = {queue}.DeQue<{kind}>();")
    if group[-1] is statement:
        lines.append(f"{queue}.FreeTensor({run});")
    return Step(lines, frozenset(), frozenset([home, work]), str(statement))


def given(plan: Plan, statement: Statement, queue: str, kind: str, homes: list[str]) -> Step:
    """Values that take turns brought together in the buffer that is copied out.

    Raises InputError for elements that no gather takes.
    """
    tensor, own = statement.tensor, _kind(statement)
    assert tensor is not None
    if tensor.dtype not in TURNING:
        raise broken(
            plan,
            f"parts of '{tensor.memory}', which is {tensor.dtype}, take turns along its last axis;"
            " elements of 2, 4 and 8 bytes can.",
        )
    if own == "tile" and plan.phase.turns(tensor):
        raise broken(plan, f"parts of '{tensor.memory}' take turns along an axis that is turned.")
    turns = len(homes)
    sizes = {"tile": "rows, cols, width", "rows": "1, rows, rows", "cols": "1, cols, pitch"}[own]
    whole = {"tile": "count", "rows": "rows", "cols": "cols"}[own]
    size = {"T": "", "float16": "Narrow", "bfloat16": "Narrow"}.get(tensor.dtype, "Wide")
    work, order = f"{own}Turns{turns}", f"{own}Order{turns}{size}"
    beside = Room(
        turns * (own == "tile"), turns * (own == "rows"), turns * (own == "cols"), turns * VECTOR
    )
    along = Room(0, turns * (own == "rows"), turns * (own != "rows"), turns * VECTOR + SEVERAL)
    plan.slots.setdefault(work, Slot(work, "halo", room=beside))
    plan.slots.setdefault(order, Slot(order, "halo", room=along))
    plan.setup[order] = [f"TurnOrder<{kind}>({order}, {work}, {turns});"]
    plan.helpers |= {"GiveTurns", "LineElements"}
    moved, call, written = kind, f"GiveTurns<{kind}>({queue}, {work}", {work}
    if tensor.dtype == "int64":  # as float until the elements are in order
        moved, line = "float", f"{own}Line{turns}"
        plan.setup[order] = [f"TurnOrder<float>({order}, {work}, {turns});"]
        plan.slots.setdefault(line, Slot(line, "halo", room=beside))
        plan.helpers.add("GiveTurnsWide")
        call, written = f"GiveTurnsWide<{kind}>({queue}, {work}, {line}", {work, line}
    lines = [
        f"Beside<{moved}>({work}, {home}, {i}, {turns}, {whole});" for i, home in enumerate(homes)
    ]
    lines.append(f"{call}, {order}, {turns}, {sizes});")
    return Step(lines, frozenset(homes), frozenset(written), str(statement))


def given_apart(plan: Plan, statement: Statement, queue: str, kind: str, home: str) -> Step:
    """Single elements, each at the beginning of a block in the buffer that is copied out.

    Raises InputError for elements that are not spread over blocks.
    """
    tensor, own = statement.tensor, _kind(statement)
    assert tensor is not None
    if tensor.dtype not in ("T", "float32", "int32", *_NARROW):
        raise broken(
            plan,
            f"single columns of '{tensor.memory}', which is {tensor.dtype}, are stored; elements of"
            " 2 or 4 bytes can be.",
        )
    work = f"{own}Blocks"
    room = Room(int(own == "tile"), int(own == "rows"), int(own == "cols"), VECTOR)
    plan.slots.setdefault(work, Slot(work, "halo", room=room))
    plan.helpers.add("GiveApart")
    sizes = {"tile": "rows, cols, width", "rows": "1, rows, rows", "cols": "1, cols, cols"}[own]
    line = f"GiveApart<{kind}>({queue}, {home}, {work}, {sizes});"
    return Step([line], frozenset([home]), frozenset([work]), str(statement))


def together_sizes(sizes: str, turns: int, single: bool) -> str:
    """Rows, columns and distance of rows in global memory, as of one of the values that take turns,
    for the run that they are stored as; `single`: of elements of the last axis."""
    rows, cols, distance = sizes.split(", ")
    if single or distance in (cols, "stride"):
        distance = f"{turns} * {distance}"
    return f"{rows}, {turns} * {cols}, {distance}"
