"""Copies with tails: DataCopyPad for what is loaded and stored, from where, of which length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ci.create.passes.base import (
    Pair,
    Plan,
    Region,
    Slot,
    Step,
    broken,
    same_for_all,
    widths_differ,
)
from ci.create.passes.pairs import pair_of
from ci.create.passes.steps import (
    apart,
    given,
    given_apart,
    in_steps,
    in_turns,
    leads,
    run_of,
    sharing,
    span,
    taken,
    together_sizes,
)
from ci.create.program import Statement, Value
from ci.create.tensors import Tensor
from ci.model.errors import InputError

BYTE_TYPES: Final = ("bool", "int8", "uint8")
"""Byte types of 8-bit elements, which the vector unit converts to half alone."""


def copies(plan: Plan) -> None:
    """Fill what becomes of loads and stores.

    All loads of a region are issued before its first computation, so that copies of the next tile
    run while this one is computed; what is the same for all units is loaded before the first.
    """
    for region in plan.regions:
        last = _last_uses(region)
        for place, statement in enumerate(region.statements):
            value = statement.value
            if statement.op == "load" and same_for_all(plan, statement):
                assert value is not None
                plan.once.setdefault(
                    value.name, [_issue(plan, region, statement), brought(plan, region, statement)]
                )
            elif statement.op == "load":
                if leads(plan, region.statements, statement):
                    region.issued.append(_issue(plan, region, statement))
                _arrive(plan, region, place, statement, last)
            elif value is not None and value.name in region.claimed:
                _claim(plan, region, place, region.claimed[value.name], value)
        for place, statement in enumerate(region.statements):
            if statement.op == "store":
                region.at.setdefault(place, []).append(_store(plan, region, statement))


def queue_of(tensor: Tensor, out: bool) -> str:
    """The queue through which a tensor goes."""
    return ("out" if out else "in") + camel(tensor.name)


def camel(name: str) -> str:
    """`grad_in` as `GradIn`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def type_of(tensor: Tensor) -> str:
    """The C++ type of its elements, by the macro that the build gives."""
    if tensor.kept:
        return "float"
    byte = {"bool": "uint8_t", "uint8": "uint8_t", "int8": "int8_t"}
    return byte.get(tensor.dtype, f"DTYPE_{tensor.memory.upper()}")


def offset(plan: Plan, tensor: Tensor, at: Mapping[str, str] | None = None) -> str:
    """Where in a tensor the tile begins, in elements; `at` has places of groups that are not the
    tile's, '' at the beginning."""
    phase, places = plan.phase, at or {}
    terms = [" * ".join([_number(s), *(f"length{g}" for g in inner)]) for s, inner in tensor.begins]
    for group in tensor.groups:
        own = {phase.cols: "colStart", phase.rows: "rowStart"}.get(group, f"at{group}")
        index = places.get(group, own)
        if index:
            terms.append(" * ".join([index, *factors(tensor, group)]))
    return " + ".join(terms) or "0"


def _number(start: str) -> str:
    return start if start.isdigit() else f"length{start}"


def extent(plan: Plan, tensor: Tensor, kind: str) -> str:
    """Rows, columns and distance of rows in global memory for a copy.

    Raises InputError where what is copied does not lie in runs.
    """
    phase, groups = plan.phase, tensor.groups
    last = {"tile": (phase.cols, phase.rows), "rows": (phase.rows,), "cols": (phase.cols,)}
    if kind != "cell" and (groups[-1] not in last[kind] or tensor.behind(groups[-1])):
        if tensor.of:
            raise InputError(
                f"It takes or writes single columns of '{tensor.of}', whose elements lie apart in"
                " memory. Make such a column a tensor of its own, or take ranges of more columns."
            )
        raise broken(plan, f"elements of '{tensor.name}' that go together lie apart in memory.")
    if kind == "tile" and phase.turns(tensor):
        program = plan.program
        if len({t.dtype for t in (*program.inputs, *program.outputs, *program.kept)}) > 1:
            raise broken(plan, f"'{tensor.name}' is turned next to tensors of another dtype.")
        return f"cols, rows, {_distance(tensor, phase.cols)}"
    stride = "stride"
    if kind == "tile" and phase.rows in groups and (tensor.runs or groups[-2] != phase.rows):
        stride = _distance(tensor, phase.rows)
    return {
        "tile": f"rows, cols, {stride}",
        "rows": "1, rows, rows",
        "cols": "1, cols, cols",
        "cell": "1, 1, 1",
    }[kind]


def _distance(tensor: Tensor, group: str) -> str:
    """Elements between neighbours along a group."""
    return " * ".join(factors(tensor, group))


def _sizes_apart(plan: Plan, tensor: Tensor, kind: str, along: str) -> str:
    """Rows and columns of single elements, and how far apart both are in global memory."""
    rows = plan.phase.rows if kind == "tile" else ""
    row = _distance(tensor, rows) if rows else "0"
    sizes = {"tile": "rows, cols", "rows": "1, rows", "cols": "1, cols"}[kind]
    return f"{sizes}, {row}, {_distance(tensor, along)}"


def factors(tensor: Tensor, group: str) -> list[str]:
    """What makes the elements between neighbours along a group, multiplied."""
    step = tensor.step(group)
    return [*([str(step)] if step > 1 else []), *(f"length{g}" for g in tensor.behind(group))]


def _issue(plan: Plan, region: Region, statement: Statement) -> Step:
    value, tensor = statement.value, statement.tensor
    assert value is not None and tensor is not None
    copy = "CopyInTurned" if value.kind == "tile" and plan.phase.turns(tensor) else "CopyIn"
    begins, single = tensor, apart(plan, statement)
    sizes = "" if single else extent(plan, tensor, value.kind)
    if single:
        copy, sizes = "CopyInApart", _sizes_apart(plan, tensor, value.kind, single)
    elif in_steps(statement):
        more = span(sharing(plan, region.statements, statement))
        copy, sizes = "CopyInSteps", f"{tensor.step(tensor.groups[-1])}, {more}, {sizes}"
        begins, _ = run_of(tensor)
    plan.helpers.add(copy)
    where = f"{tensor.memory}Gm[{offset(plan, begins)}]"
    own = f"{copy}({queue_of(tensor, False)}, {where}, {sizes});"
    pair = pair_of(plan, tensor, False)
    if pair is None:
        return Step([own])
    if tensor == pair.second:
        return Step([f"if (!{pair.flag}) {{", f"    {own}", "}"])
    return Step(_either(pair, [_whole(plan, pair, copy)], [own]))


def _either(pair: Pair, together: list[str], apart: list[str]) -> list[str]:
    """Lines for both halves in one copy, and for one each."""
    inner = [[f"    {line}" for line in lines] for lines in (together, apart)]
    return [f"if ({pair.flag}) {{", *inner[0], "} else {", *inner[1], "}"]


def _whole(plan: Plan, pair: Pair, copy: str) -> str:
    """The copy of both halves of all rows of a tile."""
    where = f"{pair.first.memory}Gm[{offset(plan, pair.first)}]"
    count = f"rows * length{pair.whole}"
    return f"{copy}({queue_of(pair.first, pair.out)}, {where}, 1, {count}, {count});"


def _opens(region: Region, pair: Pair, statement: Statement) -> bool:
    """Whether the other half comes later."""
    both = (pair.first, pair.second)
    mine = [s for s in region.statements if s.tensor in both and (s.op == "store") == pair.out]
    return mine[0] is statement


def _last_uses(region: Region) -> dict[str, int]:
    last: dict[str, int] = {}
    for place, statement in enumerate(region.statements):
        for arg in statement.args:
            if isinstance(arg, Value):
                last[arg.name] = place
    return last


def brought(plan: Plan, region: Region, statement: Statement) -> Step:
    """A loaded tensor brought into a buffer of its own, as float."""
    value, tensor = statement.value, statement.tensor
    assert value is not None and tensor is not None
    queue, kind, home = queue_of(tensor, False), type_of(tensor), plan.home(region, value.name)
    if apart(plan, statement):
        return taken(plan, [statement], statement, queue, kind, home)
    if in_steps(statement):
        group = sharing(plan, region.statements, statement)
        assert group[0].tensor is not None
        return taken(plan, group, statement, queue_of(group[0].tensor, False), kind, home)
    count = {"tile": "count", "rows": "rows", "cols": "pitch", "cell": "1"}[value.kind]
    padded = value.kind == "cols" and (tensor.dtype != "T" or widths_differ(plan.program))
    if padded:
        count = "cols"
    if plan.phase.turns(tensor) and value.kind == "tile":
        return _turned(plan, statement, home, f"TakeTurned<{kind}>({home}, {queue}")
    writes = [home]
    work = ""
    narrow = tensor.dtype in BYTE_TYPES
    if narrow:
        work = f", {_half_work(plan)}"
        writes.append("halfWork")
    call = "TakeByte" if narrow else "Take"
    plan.helpers.add(call)
    target = "cellWork" if value.kind == "cell" else home
    lines = [f"{call}<{kind}>({target}, {queue}{work}, {count});"]
    if padded:  # the rest of the last blocks
        lines = [f"Duplicate({home}, 0.0f, pitch);", "PipeBarrier<PIPE_V>();", *lines]
    if value.kind == "cell":
        plan.slots.setdefault("cellWork", Slot("cellWork", "cell"))
        plan.helpers.add("Spread")
        writes.append("cellWork")
        lines += ["PipeBarrier<PIPE_V>();", f"Spread({home}, cellWork, 8);"]
    return Step(lines, frozenset(), frozenset(writes), str(statement))


def _turned(plan: Plan, statement: Statement, home: str, call: str) -> Step:
    """A tile turned round on its way in or out."""
    plan.helpers |= {call.partition("<")[0], "Give" if call.startswith("Give") else "Take"}
    plan.slots.setdefault("turnWork", Slot("turnWork", "turned"))
    tensor, used = statement.tensor, frozenset(["turnWork"])
    assert tensor is not None
    sizes = f"rows, cols, width, {_distance(tensor, plan.phase.cols)}"
    if statement.op == "load":
        plan.slots.setdefault("lineStarts", Slot("lineStarts", "cols"))
        plan.helpers.add("Multiples")
        length = f"length{plan.phase.rows}"
        fill = f"    Multiples<{type_of(tensor)}>(lineStarts, {length});"
        plan.setup["lineStarts"] = [f"if ({length} <= SHORT_IN) {{", fill, "}"]
        lines = [f"{call}, turnWork, lineStarts, {sizes});"]
        return Step(lines, frozenset(), used | {home}, str(statement))
    lines = [f"{call}, turnWork, knownPitch, {sizes});"]
    return Step(lines, frozenset([home]), used, str(statement))


def _arrive(
    plan: Plan, region: Region, place: int, statement: Statement, last: dict[str, int]
) -> None:
    value, tensor = statement.value, statement.tensor
    assert value is not None and tensor is not None
    if value.name in plan.owned or tensor.dtype not in ("T", "float32"):
        region.at.setdefault(place, []).insert(0, brought(plan, region, statement))
        return
    queue, kind, home = queue_of(tensor, False), type_of(tensor), plan.home(region, value.name)
    plan.helpers |= {"Arrived", "Done"}
    slot = f", {home}" if home != value.name else ", noSlot"
    name = value.name
    arrived = f"Arrived<{kind}>({queue}{slot}, count)"
    opened, closed = list[str](), list[str]()
    pair = pair_of(plan, tensor, False)
    if pair is not None:
        plan.helpers.add("HalfOf")
        first = queue_of(pair.first, False)
        half = f"{pair.local}[cols]" if tensor == pair.second else pair.local
        arrived = f"{pair.flag} ? HalfOf({home}, {half}, rows, cols) : {arrived}"
        if _opens(region, pair, statement):
            opened = [f"LocalTensor<{kind}> {pair.local};", f"if ({pair.flag}) {{"]
            opened += [f"    {pair.local} = {first}.DeQue<{kind}>();", "}"]
        else:
            closed = [f"if ({pair.flag}) {{", f"    {first}.FreeTensor({pair.local});", "}"]
    region.at.setdefault(place, []).insert(
        0,
        Step(
            [*opened, f"LocalTensor<float> {name} = {arrived};", *closed],
            frozenset(),
            frozenset([name, home]),
            str(statement),
        ),
    )
    region.homes[value.name] = name
    if home != name:
        region.aliases[name] = home
    end = last.get(value.name, place)
    region.done.setdefault(end, []).append(Step([f"Done<{kind}>({queue}, {name});"]))


def _claim(plan: Plan, region: Region, place: int, tensor: Tensor, value: Value) -> None:
    home, queue = plan.home(region, value.name), queue_of(tensor, True)
    plan.helpers |= {"Claimed", "Deliver"}
    slot = f", {home}" if home != value.name else ", noSlot"
    line = f"LocalTensor<float> {value.name} = Claimed<{type_of(tensor)}>({queue}{slot});"
    region.at.setdefault(place, []).insert(0, Step([line]))
    region.homes[value.name] = value.name
    if home != value.name:
        region.aliases[value.name] = home


def _store(plan: Plan, region: Region, statement: Statement) -> Step:
    tensor, value = statement.tensor, statement.args[0]
    assert tensor is not None and isinstance(value, Value)
    queue, kind = queue_of(tensor, True), type_of(tensor)
    where = f"{tensor.memory}Gm[{offset(plan, tensor)}]"
    if in_turns(statement):
        plan.helpers.add("CopyOut")
        homes = [plan.home(region, a.name) for a in statement.args if isinstance(a, Value)]
        if value.kind == "cell":
            plan.helpers.add("Give")
            start = offset(plan, tensor)
            lines = []
            for i, home in enumerate(homes):
                lines.append(f"Give<{kind}>({queue}, {home}, 8);")
                lines.append(f"CopyOut({queue}, {tensor.memory}Gm[{start} + {i}], 1, 1, 1);")
            return Step(lines, frozenset(homes), frozenset(), str(statement))
        made = given(plan, statement, queue, kind, homes)
        single = tensor.single
        one = replace(tensor, runs=tensor.runs[:-single]) if single else tensor
        sizes = together_sizes(extent(plan, one, value.kind), len(homes), bool(single))
        made.lines.append(f"CopyOut({queue}, {where}, {sizes});")
        return made
    home = plan.home(region, value.name)
    if along := apart(plan, statement):
        plan.helpers.add("CopyOutApart")
        made = given_apart(plan, statement, queue, kind, home)
        sizes = _sizes_apart(plan, tensor, value.kind, along)
        made.lines.append(f"CopyOutApart({queue}, {where}, {sizes});")
        return made
    count = {"tile": "count", "rows": "rows", "cols": "cols", "cell": "8"}[value.kind]
    copy = f"CopyOut({queue}, {where}, {extent(plan, tensor, value.kind)});"
    if plan.phase.turns(tensor) and value.kind == "tile":
        made = _turned(plan, statement, home, f"GiveTurned<{kind}>({queue}, {home}")
        made.lines.append(copy.replace("CopyOut", "CopyOutTurned", 1))
        plan.helpers.add("CopyOutTurned")
        return made
    plan.helpers.add("CopyOut")
    writes = set[str]()
    if region.claimed.get(value.name) == tensor:
        lines = [f"Deliver<{kind}>({queue}, {home}, {count});"]
    elif tensor.dtype in BYTE_TYPES:
        plan.helpers.add("GiveByte")
        writes.add("halfWork")
        lines = [f"GiveByte<{kind}>({queue}, {home}, {_half_work(plan)}, {count});"]
    else:
        plan.helpers.add("Give")
        lines = [f"Give<{kind}>({queue}, {home}, {count});"]
    lines.append(copy)
    pair = pair_of(plan, tensor, True)
    if pair is not None:
        lines = _half(plan, region, pair, statement, lines)
    return Step(lines, frozenset([home]), frozenset(writes), str(statement))


def _half(
    plan: Plan, region: Region, pair: Pair, statement: Statement, apart: list[str]
) -> list[str]:
    """A half that is stored together with the other one, where the lengths allow it."""
    tensor, (value,) = statement.tensor, statement.args
    assert tensor is not None and isinstance(value, Value)
    plan.helpers.add("GiveHalf")
    queue, kind, home = queue_of(pair.first, True), type_of(tensor), plan.home(region, value.name)
    half = f"{pair.local}[cols]" if tensor == pair.second else pair.local
    together = [f"GiveHalf({half}, {home}, rows, cols);"]
    opened = list[str]()
    if _opens(region, pair, statement):
        together.insert(0, f"{pair.local} = {queue}.AllocTensor<{kind}>();")
        opened = [f"LocalTensor<{kind}> {pair.local};"]
    else:
        together += [f"{queue}.EnQue({pair.local});", _whole(plan, pair, "CopyOut")]
    return [*opened, *_either(pair, together, apart)]


def _half_work(plan: Plan) -> str:
    """Room for a tile in half, between float and 8-bit elements."""
    plan.slots.setdefault("halfWork", Slot("halfWork", "tile"))
    return "halfWork.ReinterpretCast<half>()"
