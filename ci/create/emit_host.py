"""The host's text: op definition, shape inference, tiling; and the build file."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from ci.create.emit_kernel import kept, templates
from ci.create.layout import Layout
from ci.create.lower import Lowered
from ci.create.passes.base import BYTES, VECTOR, Budget, Plan, folds_of, has_two_forms
from ci.create.passes.budget import PARTS_BYTES
from ci.create.passes.copies import camel
from ci.create.passes.gathers import one_by_one
from ci.create.passes.steps import apart, in_steps, in_turns
from ci.create.passes.windows import Window
from ci.create.relations import relations
from ci.create.scalars import c_text
from ci.create.schedule import FEW
from ci.create.shapes import Segment, equal_lengths, group_formulas, output_segments

GE: dict[str, str] = {
    "float32": "DT_FLOAT",
    "float16": "DT_FLOAT16",
    "bfloat16": "DT_BF16",
    "bool": "DT_BOOL",
    **{n: f"DT_{n.upper()}" for n in ("int8", "uint8", "int16", "int32", "int64")},
}
LEAST_PER_CORE = 512
"""Elements: below that a copy costs its latency and little else."""

START_CYCLES = 360
"""Between the starts of two cores of a launch, as launches of 12 and of 40 cores tell it apart."""

BYTES_A_CYCLE = 32
"""Bytes that a core copies in a cycle; a vector instruction takes 64 elements a cycle."""


@dataclass(frozen=True)
class Attribute:
    """An attribute of the operator; `fixed`: the only value that it was made for."""

    name: str
    kind: str
    default: float | int | bool | str | None
    fixed: Any = None

    @property
    def getter(self) -> str:
        """The getter of a node's attributes."""
        return f"Get{self.kind}"

    @property
    def text(self) -> str:
        """The default in C++."""
        if isinstance(self.default, bool):
            return "true" if self.default else "false"
        return "" if self.default is None else repr(self.default)


@dataclass(frozen=True)
class Interface:
    """Inputs and outputs with the dtypes of each column of the definition, and attributes."""

    name: str
    columns: dict[str, tuple[str, ...]]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[Attribute, ...] = field(default=())


def host_files(lowered: Lowered, layouts: list[Layout], interface: Interface) -> dict[str, str]:
    """op_host's files and CMakeLists.txt, by name."""
    name, op_type = interface.name, camel(interface.name)
    program = lowered.program
    phases = [_phase(p) for p in lowered.streamed if p.phase.groups]
    scalars = [{"field": f, "formula": c_text(s)} for s, f in lowered.scalars.items()]
    segments = output_segments(layouts)
    formulas = group_formulas(layouts)
    groups = [{"name": g.name, "formula": formulas[g.name]} for g in program.groups]
    checks = [{"group": g, "formula": f} for g, f in equal_lengths(layouts)]
    narrow = frozenset(a.name for a in interface.attributes if a.kind == "Float")
    wanted = relations(layouts, narrow)
    texts = " ".join(
        [
            *formulas.values(),
            *(s["formula"] for s in (*scalars, *checks)),
            *(r.text for r in wanted),
        ]
    )
    shapes = [
        {"name": n, "index": i} for i, n in enumerate(interface.inputs) if f"{n}Shape" in texts
    ]
    first = next((i for i, n in enumerate(interface.inputs) if _is_t(interface, n)), 0)
    values = {
        "name": name,
        "op_type": op_type,
        "groups": groups,
        "phases": phases,
        "scalars": scalars,
        "ranges": _ranges(lowered),
        "checks": checks,
        "relations": wanted,
        "same_axes": any("SameAxes" in r.text for r in wanted),
        "least_per_core": LEAST_PER_CORE,
        "start_cycles": START_CYCLES,
        "element_cycles": element_cycles(lowered),
        "shapes": shapes,
        "ranks": [
            {"index": i, "rank": seen.pop(), "name": n}
            for i, n in enumerate(interface.inputs)
            if len(seen := {one.ranks[n] for one in layouts}) == 1 and 0 not in seen
        ],
        "attrs": [_attribute(a, i, texts) for i, a in enumerate(interface.attributes)],
        "narrow": f"context->GetInputDesc({first})->GetDataType() != ge::DT_FLOAT",
        "smallest": _smallest(lowered),
        "mixed": _mixed(lowered),
        "two_forms": bool(lowered.resident),
        "totals": lowered.totals,
        "kept": kept(program),
        "few": FEW,
        "turned": any(p["turned"] == "true" for p in phases),
        "split": _split(lowered.split) if lowered.split else None,
        "parts_bytes": PARTS_BYTES,
        "needs": {
            f"{form}_{kind}": _need(lowered.budget(form == "resident", kind == "narrow"))
            for form in ("streamed", *(("resident",) if lowered.resident else ()))
            for kind in ("narrow", "float")
        },
        "infer_inputs": [
            {"name": n, "index": i}
            for i, n in enumerate(interface.inputs)
            if any(s.name == n or f"{n}Shape" in s.text for one in segments for s in one)
        ],
        "outputs": [
            _output(place, n, segments[place], interface)
            for place, n in enumerate(interface.outputs)
        ],
        "infer_attrs": _infer_attrs(interface, segments),
        "definition": [
            {
                "side": side,
                "name": n,
                "dtypes": [f"ge::{GE[d]}" for d in interface.columns[n]],
                "formats": ["ge::FORMAT_ND"] * len(interface.columns[n]),
            }
            for side, names in (("Input", interface.inputs), ("Output", interface.outputs))
            for n in names
        ],
    }
    made = {
        f"op_host/{name}.cpp": "host.cpp.j2",
        f"op_host/{name}_tiling.h": "tiling.h.j2",
        "CMakeLists.txt": "CMakeLists.txt.j2",
    }
    return {file: templates().get_template(t).render(**values) for file, t in made.items()}


def element_cycles(lowered: Lowered) -> float:
    """Cycles of a core for an element of a tile: its copies in float32 and its instructions."""
    cycles = 0.0
    for plan in lowered.streamed:
        for statement in plan.phase.statements:
            kinds = [getattr(a, "kind", "") for a in (statement.value, *statement.args)]
            if "tile" not in kinds:
                continue
            cycles += CYCLES_OF_ONE_COPIED * bool(apart(plan, statement))
            cycles += CYCLES_OF_ONE_READ * one_by_one(plan, statement)
            if statement.tensor is not None:
                cycles += 4 / BYTES_A_CYCLE
                cycles += plan.phase.turns(statement.tensor) / TURNED
            if in_steps(statement) or in_turns(statement):
                cycles += 1 / GATHERED
            if statement.op.startswith("window"):
                window = Window.read(statement.op)
                if statement.weights is not None:
                    cycles += math.prod(window.size) / VECTOR
                    continue
                cycles += window.size[-1] / GATHERED + math.prod(window.size) / VECTOR
            elif statement.op.startswith("scan"):
                cycles += 2 / GATHERED
            else:
                cycles += 1 / VECTOR
    return round(cycles, 3)


CYCLES_OF_ONE_COPIED = 9
"""Cycles of a copy for each element of a column, as boxes of [600, 4] took in the simulator."""

CYCLES_OF_ONE_READ = 38
"""Cycles of the scalar unit for each element at a place of its own, as 7,200 took there."""

GATHERED = 4
"""Elements that a gather takes a cycle, with what waits for it."""

TURNED = 8
"""Elements of four bytes that are turned round a cycle: 128 in 16 cycles."""


def _ranges(lowered: Lowered) -> list[dict[str, str]]:
    """Where the ranges of inputs end, and the lengths of the axes that they are ranges of."""
    found: dict[tuple[str, str], None] = {}
    for plan in lowered.streamed:
        for statement in plan.phase.statements:
            if statement.op != "load" or statement.tensor is None:
                continue
            for run in statement.tensor.runs:
                if run.ranged:
                    start = run.start if run.start.isdigit() else f"length{run.start}"
                    length = " * ".join(f"length{g}" for g in run.groups) or "1"
                    if run.step > 1:
                        length = f"({length} - 1) * {run.step} + 1"
                    found[f"{start} + {length}", f"length{run.whole}"] = None
    return [{"end": end, "whole": whole} for end, whole in found]


def _is_t(interface: Interface, name: str) -> bool:
    return len(set(interface.columns[name])) > 1


def _phase(plan: Plan) -> dict[str, Any]:
    phase = plan.phase
    kept = set(phase.kept)
    outer = [f"length{g}" for g in phase.outer if g in kept]
    return {
        "number": phase.number,
        "outer": " * ".join(outer) or "1",
        "rows": f"length{phase.rows}" if phase.rows else "1",
        "cols": f"length{phase.cols}",
        "elements": " * ".join(f"length{g}" for g in phase.groups),
        "rows_shared": str(phase.rows in kept).lower(),
        "cols_shared": str(phase.cols in kept).lower(),
        "two_forms": has_two_forms(phase),
        "turned": str(any(s.tensor and phase.turns(s.tensor) for s in phase.statements)).lower(),
    }


def _split(plan: Plan) -> dict[str, Any]:
    phase = plan.phase
    folds = folds_of(plan)
    group = next(g for g in phase.groups if g in phase.sequential)
    return {
        "number": phase.number,
        "length": f"length{group}",
        "tile": {phase.cols: "cols", phase.rows: "rows"}.get(group, ""),
        "joins": sum(any(f in region.statements for f in folds) for region in plan.regions),
        "folds": len(folds),
        "kinds": sorted({f.value.kind for f in folds if f.value} - {"cell"}),
    }


def _need(need: Budget) -> str:
    return f"{need.tile}, {need.row}, {need.column}, {need.fixed}"


def _smallest(lowered: Lowered) -> str:
    sizes = {BYTES[q.tensor.dtype] for q in lowered.queues if q.kinds & {"tile", "turned", "halo"}}
    least = min([*(n for n in sizes if n), 4])
    return f"(narrow ? 2 : {least})" if 0 in sizes and least > 2 else str(least)


def _mixed(lowered: Lowered) -> str:
    sizes = {BYTES[q.tensor.dtype] for q in lowered.queues if q.kinds & {"tile", "turned"}}
    fixed = sizes - {0}
    if len(fixed) > 1:
        return "true"
    if 0 not in sizes or not fixed:
        return "false"
    return {4: "narrow", 2: "!narrow"}.get(fixed.pop(), "true")


def _attribute(attribute: Attribute, index: int, texts: str) -> dict[str, Any]:
    return {
        "name": attribute.name,
        "index": index,
        "getter": attribute.getter,
        "kind": attribute.kind,
        "default": attribute.text,
        "fixed": attribute.fixed,
        "used": attribute.fixed is not None or f"{attribute.name}Attr" in texts,
        "type": {"Int": "int64_t", "Bool": "bool", "Str": "char*"}.get(attribute.kind, "double"),
    }


def _infer_attrs(interface: Interface, segments: list[list[Segment]]) -> list[dict[str, Any]]:
    texts = " ".join(s.text for one in segments for s in one)
    return [
        {"name": a.name, "index": i, "getter": a.getter}
        for i, a in enumerate(interface.attributes)
        if f"{a.name}Attr" in texts
    ]


def _output(place: int, name: str, segments: list[Segment], interface: Interface) -> dict[str, Any]:
    same = ""
    if len(segments) == 1 and segments[0].begin == "0" and segments[0].end.endswith("GetDimNum()"):
        same = segments[0].name
    dtypes = interface.columns[name]
    twin = next((i for i, n in enumerate(interface.inputs) if interface.columns[n] == dtypes), None)
    if len(set(dtypes)) > 1 and twin is not None:
        dtype = f"context->GetInputDataType({twin})"
    else:
        dtype = f"ge::{GE[dtypes[0]]}"
    return {
        "name": name,
        "index": place,
        "same": same,
        "segments": segments,
        "infer_dtype": dtype,
    }
