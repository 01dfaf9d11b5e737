"""The kernel's text from its plans."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Any, Final

import jinja2

from ci.create.emit_phase import methods
from ci.create.lower import Lowered
from ci.create.passes.base import BYTES, Slot, has_two_forms
from ci.create.passes.budget import PARTS_BYTES, Queue
from ci.create.passes.copies import camel, queue_of, type_of
from ci.create.passes.vector import FOLDS
from ci.create.program import Program
from ci.create.tensors import Tensor

HELPERS: Final = (
    *("Apply", "Combine", "Spread", "RowOp", "ColOp", "RowFold", "ColFold", "Join", "RowScan"),
    *("ColScan", "Fold", "WindowAxis", "Windows", "AddWeighted", "Dots", "Undots", "CopyIn"),
    *("CopyOut", "Arrived", "Done", "Take", "TakeByte"),
    *("Claimed", "Deliver", "Give", "GiveByte", "Turn", "OneRun", "CopyInTurned", "CopyOutTurned"),
    *("LineElements", "Multiples", "TakeTurned", "GiveTurned", "CopyInSteps", "TakeSteps"),
    *("GiveTurns", "GiveTurnsWide", "HalfOf", "GiveHalf", "PlaceAt", "GatherRows"),
    *("GatherElements", "CopyInApart", "GiveApart", "CopyOutApart"),
)
NEEDS: Final = {
    **dict.fromkeys(("RowOp", "ColOp"), ("Apply",)),
    "ColFold": ("Combine",),
    "RowFold": ("Apply", "Combine"),
    "Windows": ("Fold", "WindowAxis"),
    **dict.fromkeys(("Dots", "Undots"), ("WindowAxis", "AddWeighted")),
    "TakeTurned": ("Turn", "OneRun"),
    "GiveTurned": ("Turn", "OneRun", "LineElements"),
    "CopyInTurned": ("CopyIn", "OneRun"),
    "CopyOutTurned": ("CopyOut", "OneRun"),
    **dict.fromkeys(("RowScan", "ColScan"), ("Join",)),
    **dict.fromkeys(("GatherRows", "GatherElements"), ("PlaceAt",)),
}


@cache
def templates() -> jinja2.Environment:
    """The templates of operator folders."""
    folder = str(resources.files(__package__).joinpath("templates"))
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )


def kernel_text(lowered: Lowered, title: str) -> str:
    """The whole kernel file."""
    program = lowered.program
    tensors = (*program.inputs, *program.outputs)
    tiles = [q.tensor for q in lowered.queues if q.kinds & {"tile", "turned", "halo"}]
    wanted = set(lowered.helpers)
    if lowered.totals:
        wanted |= {"RowFold", "Spread"}
    for name in tuple(wanted):
        wanted |= set(NEEDS.get(name, ()))
    totals = [t.value.name for p in lowered.streamed for t in p.phase.totals if t.value]
    two = bool(lowered.resident)
    plans = {p.name: p for p in (*lowered.streamed, *lowered.resident)}
    depths = {
        queue_of(tensor, q.out): q.depth for q in lowered.queues for tensor in (q.tensor, *q.others)
    }
    slots = {s.name: s for form in (False, True) for s in lowered.slots(form)}
    first = next((t for t in tensors if t.dtype == "T"), None)
    made = [method for p in plans.values() for method in methods(p, depths)]
    text = (
        templates()
        .get_template("kernel.cpp.j2")
        .render(
            title=title,
            program_text=program.text(),
            t_type=type_of(first) if first else "float",
            smallest=_smallest(tiles),
            helpers=[_helper(h) for h in HELPERS if h in wanted],
            two_forms=two,
            class_name=f"Kernel{camel(program.name)}",
            op_type=camel(program.name),
            name=program.name,
            arguments=[{"name": t.name, "type": type_of(t)} for t in tensors],
            groups=[g.name for g in program.groups],
            phases=[{"number": p.number, "tiled": bool(p.groups)} for p in program.phases],
            scalars=list(lowered.scalars.values()),
            queues=[_queue(q, lowered) for q in lowered.queues],
            pairs=[{"flag": p.flag, "condition": p.condition(f)} for p, f in lowered.pairs],
            streamed_slots=[{"init": _init(s)} for s in lowered.slots(False)],
            resident_slots=[{"init": _init(s)} for s in lowered.slots(True)],
            all_slots=list(slots),
            totals=totals,
            kept=kept(program),
            process=_process(lowered, two),
            methods=made,
            nan="NAN_F" in str(made),
            shares=any(p.groups for p in program.phases),
            split=lowered.split is not None,
            parts_bytes=PARTS_BYTES,
            apart=any(name.endswith("Apart") for name in wanted),
        )
    )
    for queue in lowered.queues:
        for other in queue.others:
            own, shared = queue_of(other, queue.out), queue_of(queue.tensor, queue.out)
            text = re.sub(rf"\b{own}\b", shared, text)
    return text


def kept(program: Program) -> list[dict[str, str]]:
    """What lies in the workspace, each tensor with the floats that it takes."""
    return [
        {"name": t.name, "floats": " * ".join(f"length{g}" for g in t.groups)} for t in program.kept
    ]


def _smallest(tiles: list[Tensor]) -> str:
    sizes = {BYTES[t.dtype] for t in tiles}
    fixed = [n for n in sizes if n]
    least = min([*fixed, 4])
    if 0 in sizes:
        return "sizeof(T)" if least >= 4 else f"Least(sizeof(T), {least})"
    return str(least)


def _helper(name: str) -> str:
    folder = resources.files(__package__).joinpath("templates", "helpers")
    return folder.joinpath(f"{name}.h").read_text(encoding="utf-8")


def _queue(queue: Queue, lowered: Lowered) -> dict[str, Any]:
    size = f"sizeof({type_of(queue.tensor)})"
    room = {
        "halo": f"{queue.room.text if queue.room else ''} * {size}",
        "tile": f"tiling.tile * {size}",
        "turned": f"(tiling.tile + PITCH * tiling.tileCols) * {size}",
        "rows": f"RoundUp(tiling.tileRows, VECTOR) * {size}",
        "cols": f"RoundUp(tiling.tileCols, VECTOR) * {size}",
        "cell": f"VECTOR * {size}",
    }[queue.kind]
    name = queue_of(queue.tensor, queue.out)
    only = ""
    for pair, _ in lowered.pairs:
        if pair.out == queue.out and queue.tensor == pair.first:
            room = f"({pair.flag} ? 2 : 1) * {room}"
        elif pair.out == queue.out and queue.tensor == pair.second:
            only = f"if (!{pair.flag}) "
    init = f"{only}pipe.InitBuffer({name}, {queue.depth}, {room});"
    return {"name": name, "depth": queue.depth, "init": init, "out": queue.out}


def _init(slot: Slot) -> str:
    room = {
        "tile": "tiling.tile * sizeof(float)",
        "mask": "RoundUp(tiling.tile / 8, BLOCK_BYTES)",
        "rows": "RoundUp(tiling.tileRows, VECTOR) * sizeof(float)",
        "wide": "RoundUp(tiling.tileRows, BLOCK) * BLOCK_BYTES",
        "cols": "RoundUp(tiling.tileCols, VECTOR) * sizeof(float)",
        "cell": "VECTOR * sizeof(float)",
        "turned": "(tiling.tile + PITCH * tiling.tileCols) * sizeof(float)",
        "lines": "(tiling.tile + 7 * tiling.tileCols + tiling.tileRows + VECTOR) * sizeof(float)",
        "halo": f"{slot.room.text if slot.room else ''} * sizeof(float)",
    }[slot.kind]
    line = f"pipe.InitBuffer({slot.name}Buf, {room});"
    if slot.pool == "narrow":
        return f"if constexpr (!IsSameType<T, float>::value) {{ {line} }}"
    return line


def _process(lowered: Lowered, two: bool) -> list[str]:
    lines, number = [], 0
    for plan in lowered.streamed:
        if has_two_forms(plan.phase):
            resident = plan.name.replace("Streamed", "Resident")
            lines += [
                "if constexpr (RESIDENT) {",
                f"    {resident}();",
                "} else {",
                f"    {plan.name}();",
                "}",
            ]
        else:
            lines.append(f"{plan.name}();")
        totals = plan.phase.totals
        if lowered.program.meets(plan.phase):
            lines.append("SyncAll();")
        for total in totals:
            assert total.value is not None
            op = FOLDS[total.op.removeprefix("fold ")][0].upper()
            lines.append(f"Gather<Op::{op}>(total_{total.value.name}Buf.Get<float>(), {number});")
            number += 1
    return lines
