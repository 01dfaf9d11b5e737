"""The text of a phase: a method of the kernel, with its loops over units and tiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ci.create.graph import COMPARISONS
from ci.create.passes.base import Plan, Region, Step, folds_of, splits
from ci.create.passes.copies import queue_of
from ci.create.passes.steps import leads
from ci.create.passes.vector import FOLDS
from ci.create.program import Value


def methods(plan: Plan, depths: Mapping[str, int]) -> list[dict[str, Any]]:
    """The methods of a phase in one of its forms; `depths` are those of the queues."""
    ahead = plan.one_tile and len(plan.regions) == 1 and loads_ahead(plan, plan.regions[0], depths)
    made = [{"name": plan.name, "takes": "", "lines": _method(plan, depths, ahead=ahead)}]
    if ahead:
        made.append({"name": f"Load{plan.name}", "takes": "uint64_t unit", "lines": _ahead(plan)})
    return made


def _method(plan: Plan, depths: Mapping[str, int], *, ahead: bool) -> list[str]:
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
        lines += [line for setup in plan.setup.values() for line in setup]
        lines += _once(plan)
        lines += [
            "uint64_t first = 0;",
            "uint64_t last = 0;",
            f"Share(units{phase.number}, first, last);",
            *_part(plan),
            *(["if (first < last) {", f"    Load{plan.name}(first);", "}"] if ahead else []),
            "for (uint64_t unit = first; unit < last; unit++) {",
            *_indented(_unit(plan, depths, ahead=ahead)),
            "}",
        ]
    else:
        lines += ["if (GetBlockIdx() != 0) {", "    return;", "}"]
        for region in plan.regions:
            lines += _steps([*region.issued, *region.steps])
    before = 0
    for other in plan.program.phases[: phase.number]:
        before += len(other.totals)
    for place, total in enumerate(phase.totals):
        assert total.value is not None
        lines.append(f"Publish({plan.homes[total.value.name]}, {before + place});")
    return lines


def _part(plan: Plan) -> list[str]:
    """What of a unit this core does where several do one."""
    if not splits(plan):
        return []
    group = next(g for g in plan.phase.groups if g in plan.phase.sequential)
    return [
        "if (parts > 1) {",
        "    first = GetBlockIdx() / parts;",
        "    last = first + 1;",
        "}",
        "const uint64_t part = GetBlockIdx() % parts;",
        "const uint64_t begin = part * partLength;",
        f"const uint64_t end = Least(length{group}, begin + partLength);",
    ]


def _joined(plan: Plan, region: Region) -> list[str]:
    """The folds of a loop brought together where several cores did it."""
    own = [s for s in region.statements if s in folds_of(plan)]
    if not splits(plan) or not own:
        return []
    leave, collect = [], []
    for fold in own:
        assert fold.value is not None
        home, kind = plan.homes[fold.value.name], fold.value.kind
        home, count = (home + "Sum", "1") if kind == "cell" else (home, kind)
        op, place = FOLDS[fold.op.removeprefix("fold ")][0].upper(), folds_of(plan).index(fold)
        leave.append(f"    LeavePart({home}, {count}, {place});")
        collect.append(f"    JoinParts<Op::{op}>({home}, {count}, {place});")
    return ["if (parts > 1) {", *leave, "    SyncAll();", *collect, "}"]


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
    if "knownPitch" in text:
        lines.append("uint32_t knownPitch = 0;   // of the tiles that are turned round")
    if "noSlot" in text:
        lines.append("LocalTensor<float> noSlot;   // float needs no conversion")
    return lines


def _clearing(plan: Plan) -> list[str]:
    """Comparisons go over whole vectors, so what lies behind a tile must be something."""
    if not any(s.kind == "mask" for s in plan.slots.values()):
        return []
    compared = {
        plan.homes.get(a.name)
        for s in plan.phase.statements
        for a in s.args
        if s.op in COMPARISONS and isinstance(a, Value) and a.kind == "cell"
    }
    return [
        f"Duplicate({s.name}, 0.0f, {s.name}.GetSize());"
        for s in plan.slots.values()
        if (s.kind in ("tile", "rows", "cols") or s.name in compared)
        and s.pool == "calc"
        and "ramp" not in s.name
        and s.name not in plan.setup
    ]


def _once(plan: Plan) -> list[str]:
    """What is loaded before the first unit."""
    lines = [line for steps in plan.once.values() for line in _steps(steps)]
    if any("pitch" in line or "cols" in line for line in lines):
        sizes = ["const uint64_t colStart = 0;", *_sizes(plan, [plan.phase.cols])]
        return ["{", *_indented([*sizes, *lines]), "}"]
    return lines


def _place(plan: Plan) -> list[str]:
    """Where the tile of a unit lies, or the part of it that its loops go on from."""
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
    if plan.resident:
        lines += [f"const uint64_t at{g} = 0;" for g in phase.outer if g in loops]
        lines += ["const uint64_t rowStart = 0;"] if phase.rows in loops else []
        lines += ["const uint64_t colStart = 0;"] if phase.cols in loops else []
        lines += _sizes(plan, [g for g in (phase.rows, phase.cols) if g in loops])
    return lines


def loads_ahead(plan: Plan, region: Region, depths: Mapping[str, int]) -> bool:
    """Whether the next tile is loaded before this one is computed: two of each fit the queues."""
    loads = [s for s in region.statements if s.tensor is not None and s.op != "store"]
    loads = [s for s in loads if leads(plan, region.statements, s)]
    return bool(region.issued) and all(
        s.op == "load" and s.tensor is not None and depths[queue_of(s.tensor, False)] > 1
        for s in loads
    )


def _ahead(plan: Plan) -> list[str]:
    """The loads of a unit."""
    steps = _steps(plan.regions[0].issued)
    return [*_place(plan), *_tile(plan, steps), *steps]


def _unit(plan: Plan, depths: Mapping[str, int], *, ahead: bool) -> list[str]:
    phase = plan.phase
    lines = _place(plan)
    if ahead:
        lines = ["if (unit + 1 < last) {", f"    Load{plan.name}(unit + 1);", "}", *lines]
    loops = [g for g in phase.groups if g in phase.sequential]
    if plan.fixed_tile:
        lines += _tile(plan)
    for region in plan.regions:
        if not region.loops:
            once = splits(plan)
            issued = [] if ahead else region.issued
            lines += _steps([*region.before, *issued, *region.steps, *region.after], once=once)
            continue
        lines += _steps(region.before)
        lines += _looped(plan, region, loops, ahead=loads_ahead(plan, region, depths))
        lines += _joined(plan, region)
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


def _tile(plan: Plan, used: list[str] | None = None) -> list[str]:
    """The sizes of a tile that lines use: those of the plan, or the given ones."""
    steps = [s for r in plan.regions for s in (*r.before, *r.issued, *r.steps, *r.after)]
    text = "\n".join(used if used is not None else [line for s in steps for line in s.lines])
    lines = []
    if "width" in text or "count" in text:
        turns = any(s.tensor and plan.phase.turns(s.tensor) for s in plan.phase.statements)
        width = "pitch" if turns else "rows == 1 ? cols : pitch"  # turned are whole blocks
        lines.append(f"const uint32_t width = {width};")
    if "count" in text:
        lines.append("const uint32_t count = rows * width;")
    if "stride" in text:
        lines.append(f"const uint64_t stride = length{plan.phase.cols};")
    return lines


def _looped(plan: Plan, region: Region, loops: list[str], *, ahead: bool) -> list[str]:
    """The loops of a region. In a single one the next tile may be loaded `ahead` of this one."""
    phase, number = plan.phase, plan.phase.number
    inner = _sizes(plan, [g for g in (phase.rows, phase.cols) if g in loops])
    issued = _steps(region.issued)
    ahead &= len(loops) == 1 and not region.backwards
    lines: list[str] = []
    shape = [] if plan.fixed_tile else _tile(plan)
    body = [*inner, *shape, *([] if ahead else issued), *_steps(region.steps)]
    for group in reversed(loops):
        tile = {phase.rows: f"rowTile{number}", phase.cols: f"colTile{number}"}.get(group, "")
        start = {phase.rows: "rowStart", phase.cols: "colStart"}.get(group, f"at{group}")
        split = splits(plan) and group == loops[0]
        begin, end = ("begin", "end") if split else ("0", f"length{group}")
        heads = [f"for (uint64_t {start} = {begin}; {start} < {end}; {start} += {tile or 1}) {{"]
        if region.backwards and tile:
            heads = [
                f"for (uint64_t i = DivUp(length{group}, {tile}); i > 0; i--) {{",
                f"    const uint64_t {start} = (i - 1) * {tile};",
            ]
        if ahead:
            load = f"load{plan.regions.index(region)}"
            shape = [] if plan.fixed_tile else _tile(plan, issued)
            sizes = _indented([*inner, *shape, *issued])
            lines = [f"const auto {load} = [&](uint64_t {start}) {{", *sizes, "};"]
            lines.append(f"{load}({begin});")
            more = f"{start} + {tile or 1}"
            body = [f"if ({more} < {end}) {{", f"    {load}({more});", "}", *body]
        body = [*heads, *_indented(body), "}"]
    return [*lines, *body]


def _steps(steps: list[Step], *, once: bool = False) -> list[str]:
    """The lines of steps; with `once` only the first core of a unit gives its results."""
    lines = []
    for step in steps:
        if step.comment:
            lines.append(f"// {step.comment}")
        if once and (step.comment.startswith("store") or step.comment.endswith("for all cores")):
            lines += ["if (part == 0) {", *_indented(step.lines), "}"]
        else:
            lines += step.lines
    return lines


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line if line else "" for line in lines]
