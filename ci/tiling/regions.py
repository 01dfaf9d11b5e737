"""What of a host tiling a model may change: the functions that cut the work, whole.

Rules need the deciding statements (`tiling_slice`), since they change numbers in them. A model
writes new logic and needs room: the registered tiling functions, what these call in the operator's
own tiling sources, and the constants and variables at file scope that they use. Functions that
check, log or size the workspace stay as they are.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from ci.model.operator import Operator
from ci.source.cpp_source import Function, Source, constants, identifiers, parse, walk
from ci.tiling.synthesize import FIRST, REPLACEMENT, template_of
from ci.tiling.template import MARKER_END, MARKER_START, Cut, EvolveBlock, TilingTemplate
from ci.tiling.tiling_slice import deciding

_OTHER_TASK = re.compile(r"\bOpDef\b|Infer(?:Shape|DataType)Context|TilingParseContext")
_HELPER = re.compile(r"check|valid|verify|print|log|work_?space|infer|parse|prepare", re.I)
_SETS = re.compile(r"\bSet(?:BlockDim|TilingKey)\b|\bset_\w+\s*\(")


def tiling_regions(
    operator: Operator, device: str, cut: Cut = FIRST
) -> tuple[TilingTemplate, list[str]]:
    """A template that marks what cuts the work, and the names of the functions in it."""
    texts = {p: operator.read(p) for p in operator.tiling_sources}
    own = {
        p: parse(t)
        for p, t in texts.items()
        if not any(word in t for word in (REPLACEMENT, MARKER_START, MARKER_END))
    }
    chosen = _deciding_functions(own, operator.tiling_functions)
    sources: dict[str, str] = {}
    blocks: list[EvolveBlock] = []
    for path, source in own.items():
        mine = [f for f in source.functions if last_name(f) in chosen]
        if not mine:
            continue
        used = {n for f in mine for n in identifiers(source.code(f.body))}
        spans = [(_start(f), f.body.end_byte) for f in mine]
        spans += [(n.start_byte, n.end_byte) for n in _state(source, used)]
        sources[path] = texts[path]
        lines = source.shadow.split("\n")
        for first, last in _merged([(source.line(a), source.line(b - 1)) for a, b in spans], lines):
            blocks.append(
                EvolveBlock(file=path, first_line=first, last_line=last, decides=("partition",))
            )
    names = [f.name for s in own.values() for f in s.functions if last_name(f) in chosen]
    return template_of(operator, sources, blocks, device, cut=cut), list(dict.fromkeys(names))


def last_name(function: Function) -> str:
    """The function's name without its class."""
    return function.name.split("::")[-1]


def _deciding_functions(own: dict[str, Source], registered: tuple[str, ...]) -> frozenset[str]:
    """The registered functions and all that they call, without those that only help."""
    wanted = frozenset(f.split("::")[-1] for f in registered)
    bodies: dict[str, str] = {}
    for source in own.values():
        for one in source.functions:
            if _OTHER_TASK.search(source.shadow[one.node.start_byte : one.body.start_byte]):
                continue
            bodies[last_name(one)] = bodies.get(last_name(one), "") + source.code(one.body)
    found = {n for n in wanted if n in bodies}
    for source in own.values():
        at = (source.function_at(d.start) for d in deciding(source, wanted))
        found |= {last_name(f) for f in at if f is not None and last_name(f) in bodies}
    todo = list(found)
    while todo:
        for name in identifiers(bodies[todo.pop()]) & bodies.keys() - found:
            found.add(name)
            todo.append(name)
    return frozenset(n for n in found if not _HELPER.search(n) or _SETS.search(bodies[n]))


def _start(function: Function) -> int:
    """Where a definition starts, its template line included."""
    parent = function.node.parent
    if parent is not None and parent.type == "template_declaration":
        return parent.start_byte
    return function.node.start_byte


def _state(source: Source, used: set[str]) -> list[Node]:
    """Constants and variables outside of functions that these names use, and those they use."""
    found: list[Node] = []
    while True:
        now = _named(source, used)
        if len(now) == len(found):
            return found
        found = now
        used = used | {n for node in found for n in identifiers(source.code(node))}


def _named(source: Source, used: set[str]) -> list[Node]:
    inside = [(f.body.start_byte, f.body.end_byte) for f in source.functions]
    found = [node for node, name, _ in constants(source) if source.code(name) in used]
    for node in walk(source.root):
        if node.type == "declaration" and any(
            c.type == "init_declarator"
            and (name := c.child_by_field_name("declarator")) is not None
            and source.code(name) in used
            for c in node.named_children
        ):
            found.append(node)
    return [n for n in found if not any(a <= n.start_byte < b for a, b in inside)]


def _merged(runs: list[tuple[int, int]], lines: list[str]) -> list[tuple[int, int]]:
    """Line runs in order, those with nothing but blanks and comments between them as one."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(runs):
        if merged and not any(line.strip() for line in lines[merged[-1][1] : first - 1]):
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged
