"""The kernel's text from its plans."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, Final

import jinja2

from ci.create.layout import Tensor
from ci.create.lower import Lowered
from ci.create.passes.base import BYTES, Plan, Region, Slot, has_two_forms
from ci.create.passes.budget import Queue
from ci.create.passes.copies import camel, queue_of, type_of
from ci.create.passes.vector import FOLDS

HELPERS: Final = (
    *("Apply", "Spread", "RowOp", "ColOp", "RowFold", "ColFold", "Join", "RowScan", "ColScan"),
    *("Fold", "Windows", "CopyIn", "CopyOut", "Arrived", "Done", "Take", "TakeByte"),
    *("Claimed", "Deliver", "Give", "GiveByte", "TakeTurned", "GiveTurned"),
)
NEEDS: Final = {
    **dict.fromkeys(("RowOp", "ColOp", "ColFold"), ("Apply",)),
    "RowFold": ("Apply",),
    "Windows": ("Fold",),
    **dict.fromkeys(("RowScan", "ColScan"), ("Join",)),
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
    tiles = [q.tensor for q in lowered.queues if q.kind in ("tile", "turned")]
    wanted = set(lowered.helpers)
    if lowered.totals:
        wanted |= {"RowFold", "Spread"}
    for name in tuple(wanted):
        wanted |= set(NEEDS.get(name, ()))
    totals = [t.value.name for p in lowered.streamed for t in p.phase.totals if t.value]
    two = bool(lowered.resident)
    plans = {p.name: p for p in (*lowered.streamed, *lowered.resident)}
    slots = {s.name: s for form in (False, True) for s in lowered.slots(form)}
    first = next((t for t in tensors if t.dtype == "T"), None)
    return (
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
            queues=[_queue(q) for q in lowered.queues],
            streamed_slots=[{"init": _init(s)} for s in lowered.slots(False)],
            resident_slots=[{"init": _init(s)} for s in lowered.slots(True)],
            all_slots=list(slots),
            totals=totals,
            process=_process(lowered, two),
            methods=[{"name": p.name, "lines": _method(p)} for p in plans.values()],
            shares=any(p.groups for p in program.phases),
        )
    )


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


def _queue(queue: Queue) -> dict[str, Any]:
    size = f"sizeof({type_of(queue.tensor)})"
    room = {
        "halo": f"{queue.room.text if queue.room else ''} * {size}",
        "tile": f"tiling.tile * {size}",
        "turned": f"(tiling.tile + PITCH * tiling.tileCols) * {size}",
        "rows": f"RoundUp(tiling.tileRows, VECTOR) * {size}",
        "cols": f"RoundUp(tiling.tileCols, VECTOR) * {size}",
        "cell": f"VECTOR * {size}",
    }[queue.kind]
    return {
        "name": queue_of(queue.tensor, queue.out),
        "depth": queue.depth,
        "bytes": room,
        "out": queue.out,
    }


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
        if totals:
            lines.append("SyncAll();")
        for total in totals:
            assert total.value is not None
            op = FOLDS[total.op.removeprefix("fold ")][0].upper()
            lines.append(f"Gather<Op::{op}>(total_{total.value.name}Buf.Get<float>(), {number});")
            number += 1
    return lines


def _method(plan: Plan) -> list[str]:
    phase = plan.phase
    lines = _locals(plan)
    for total in phase.totals:
        assert total.value is not None
        neutral = FOLDS[total.op.removeprefix("fold ")][1]
        lines.append(f"Duplicate({plan.homes[total.value.name]}, {neutral}, BLOCK);")
    if phase.groups:
        lines += _clearing(plan)
        lines += [
            f"CreateVecIndex({s}.ReinterpretCast<int32_t>(), static_cast<int32_t>(0),"
            f" {s}.GetSize());"
            for s in plan.slots
            if s.startswith("ramp")
        ]
        lines += _once(plan)
        lines += [
            "uint64_t first = 0;",
            "uint64_t last = 0;",
            f"Share(units{phase.number}, first, last);",
            "for (uint64_t unit = first; unit < last; unit++) {",
            *_indented(_unit(plan)),
            "}",
        ]
    else:
        lines += ["if (GetBlockIdx() != 0) {", "    return;", "}"]
        for region in plan.regions:
            lines += _steps(region.steps)
    before = 0
    for other in plan.program.phases[: phase.number]:
        before += len(other.totals)
    for place, total in enumerate(phase.totals):
        assert total.value is not None
        lines.append(f"Publish({plan.homes[total.value.name]}, {before + place});")
    return lines


def _locals(plan: Plan) -> list[str]:
    text = "\n".join(
        line
        for region in plan.regions
        for step in (*region.before, *region.steps, *region.after)
        for line in step.lines
    )
    lines = []
    for slot in plan.slots.values():
        kind = "uint8_t" if slot.kind == "mask" else "float"
        if slot.pool == "narrow":
            lines += [
                f"LocalTensor<float> {slot.name};",
                "if constexpr (!IsSameType<T, float>::value) {",
                f"    {slot.name} = {slot.name}Buf.Get<float>();",
                "}",
            ]
        else:
            lines.append(f"LocalTensor<{kind}> {slot.name} = {slot.name}Buf.Get<{kind}>();")
    earlier = {
        t.value.name for p in plan.program.phases[: plan.phase.number] for t in p.totals if t.value
    }
    for name in sorted(earlier):
        if f"total_{name}" in text:
            lines.append(f"LocalTensor<float> total_{name} = total_{name}Buf.Get<float>();")
    if "noSlot" in text:
        lines.append("LocalTensor<float> noSlot;   // float needs no conversion")
    return lines


def _clearing(plan: Plan) -> list[str]:
    """Comparisons go over whole vectors, so what lies behind a tile must be something."""
    if not any(s.kind == "mask" for s in plan.slots.values()):
        return []
    return [
        f"Duplicate({s.name}, 0.0f, {s.name}.GetSize());"
        for s in plan.slots.values()
        if s.kind in ("tile", "rows", "cols") and s.pool == "calc" and "ramp" not in s.name
    ]


def _once(plan: Plan) -> list[str]:
    """What is loaded before the first unit."""
    lines = [line for steps in plan.once.values() for line in _steps(steps)]
    if any("pitch" in line or "cols" in line for line in lines):
        sizes = ["const uint64_t colStart = 0;", *_sizes(plan, [plan.phase.cols])]
        return ["{", *_indented([*sizes, *lines]), "}"]
    return lines


def _unit(plan: Plan) -> list[str]:
    phase = plan.phase
    number = phase.number
    kept, shared = set(phase.kept), list(phase.kept)
    lines = ["uint64_t rest = unit;"] if len(shared) > 1 else []
    rest = "rest" if lines else "unit"

    def index(group: str, start: str, tile: str) -> None:
        last = group == shared[0]
        if tile:
            count = f"DivUp(length{group}, {tile})"
            place = rest if last else f"{rest} % {count}"
            lines.append(
                f"const uint64_t {start} = {f'({place})' if not last else place} * {tile};"
            )
            if not last:
                lines.append(f"rest /= {count};")
        else:
            lines.append(f"const uint64_t {start} = {rest if last else f'{rest} % length{group}'};")
            if not last:
                lines.append(f"rest /= length{group};")

    if phase.cols in kept:
        index(phase.cols, "colStart", f"colTile{number}")
    if phase.rows in kept:
        index(phase.rows, "rowStart", f"rowTile{number}")
    for group in reversed(phase.outer):
        if group in kept:
            index(group, f"at{group}", "")
    lines += _sizes(plan, [g for g in (phase.rows, phase.cols) if g in kept or not g])
    loops = [g for g in phase.groups if g in phase.sequential]
    if plan.resident or not loops:
        if plan.resident:
            lines += [f"const uint64_t at{g} = 0;" for g in phase.outer if g in loops]
            lines += ["const uint64_t rowStart = 0;"] if phase.rows in loops else []
            lines += ["const uint64_t colStart = 0;"] if phase.cols in loops else []
            lines += _sizes(plan, [g for g in (phase.rows, phase.cols) if g in loops])
        lines += _tile(plan)
    for region in plan.regions:
        if not region.loops:
            lines += _steps([*region.before, *region.steps, *region.after])
            continue
        lines += _steps(region.before)
        lines += _looped(plan, region, loops)
        lines += _steps(region.after)
    return lines


def _sizes(plan: Plan, groups: list[str]) -> list[str]:
    phase, number = plan.phase, plan.phase.number
    lines = []
    for group in groups:
        if group == phase.rows:
            what = f"Least(length{group} - rowStart, rowTile{number})" if group else "1"
            lines.append(f"const uint32_t rows = {what};")
        else:
            what = f"Least(length{group} - colStart, colTile{number})"
            lines.append(f"const uint32_t cols = {what};")
            lines.append("const uint32_t pitch = RoundUp(cols, PITCH);")
    return lines


def _tile(plan: Plan) -> list[str]:
    text = "\n".join(
        line for r in plan.regions for s in (*r.before, *r.steps, *r.after) for line in s.lines
    )
    lines = []
    if "width" in text or "count" in text:
        lines.append("const uint32_t width = rows == 1 ? cols : pitch;")
    if "count" in text:
        lines.append("const uint32_t count = rows * width;")
    if "stride" in text:
        lines.append(f"const uint64_t stride = length{plan.phase.cols};")
    return lines


def _looped(plan: Plan, region: Region, loops: list[str]) -> list[str]:
    phase, number = plan.phase, plan.phase.number
    lines: list[str] = []
    depth = 0
    for group in loops:
        tile = {phase.rows: f"rowTile{number}", phase.cols: f"colTile{number}"}.get(group)
        start = {phase.rows: "rowStart", phase.cols: "colStart"}.get(group, f"at{group}")
        step = f"{start} += {tile}" if tile else f"{start}++"
        if region.backwards and tile:
            head = [
                f"for (uint64_t i = DivUp(length{group}, {tile}); i > 0; i--) {{",
                f"    const uint64_t {start} = (i - 1) * {tile};",
            ]
        else:
            head = [f"for (uint64_t {start} = 0; {start} < length{group}; {step}) {{"]
        lines += ["    " * depth + line for line in head]
        depth += 1
    inner = _sizes(plan, [g for g in (phase.rows, phase.cols) if g in loops])
    inner += _tile(plan)
    inner += _steps(region.steps)
    lines += ["    " * depth + line for line in inner]
    lines += ["    " * d + "}" for d in reversed(range(depth))]
    return lines


def _steps(steps: list[Any]) -> list[str]:
    lines = []
    for step in steps:
        if step.comment:
            lines.append(f"// {step.comment}")
        lines += step.lines
    return lines


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line if line else "" for line in lines]
