"""Double buffering where UB is full: two buffers of half a tile instead of one of a whole."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.transforms import queue_depth
from ci.source.cpp_source import Edit, Function, Method, Source, identifiers, walk

_TILE = re.compile(r"tile|chunk|ub_?part|per_?(?:loop|time)|block_?len|proc", re.I)
_INTEGER = re.compile(r"\bu?int(?:32|64)_t\b|\bint\b")


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """One site a function that initialises queues by a tile length it is given or computes.

    The kernel's own loop must step by that length; where the host counts the tiles instead, the
    result is wrong and the evaluation says so.
    """
    deeper = queue_depth.find(source, {"from": 1, "to": 2})
    if not deeper:
        return []
    edits = tuple(e for site in deeper for e in site.edits)
    sites = []
    for function in source.functions:
        inits = [
            m
            for m in source.methods
            if m.name == "InitBuffer"
            and function.body.start_byte <= m.start < function.body.end_byte
            and len(m.arguments) >= 2
        ]
        for name in _tile_names(inits):
            halved = _halving(source, function, name, inits[0].start)
            if halved is not None:
                sites.append(Match(halved.start, (halved, *edits), note=f"half of {name}"))
                break
    return sites


def _tile_names(inits: list[Method]) -> list[str]:
    names = [n for m in inits for n in sorted(identifiers(m.arguments[-1])) if _TILE.search(n)]
    return list(dict.fromkeys(names))


def _halving(source: Source, function: Function, name: str, before: int) -> Edit | None:
    """The edit that halves a by-value parameter, or a length assigned before the first buffer."""
    declarator = function.node.child_by_field_name("declarator")
    for node in walk(declarator) if declarator is not None else ():
        if node.type != "parameter_declaration":
            continue
        given = node.child_by_field_name("declarator")
        if given is not None and source.code(given) == name and _INTEGER.search(source.code(node)):
            first = function.body.named_children[0]
            place = source.begin(first.start_byte)
            text = f"{name} /= 2;\n{source.indent(first.start_byte)}"
            return Edit(place, place, text)
    for node in walk(function.body):
        if node.type != "assignment_expression" or node.end_byte > before:
            continue
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            continue
        if source.code(left).removeprefix("this->") == name:
            return Edit(right.start_byte, right.end_byte, f"({source.of(right)}) / 2")
    return None
