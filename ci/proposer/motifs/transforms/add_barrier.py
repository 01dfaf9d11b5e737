"""Rewind of barrier removal: end every loop body that computes with a barrier of all pipes."""

from __future__ import annotations

from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.source.cpp_source import LOOPS, Edit, Source, walk

BARRIER = "AscendC::PipeBarrier<PIPE_ALL>();"


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """The loops whose body calls functions and does not end with a barrier yet.

    With `place: start` the barrier opens the body of each function that takes from a queue.
    """
    if parameters.get("place") == "start":
        return _at_start(source)
    sites = []
    for node in walk(source.root):
        body = node.child_by_field_name("body") if node.type in LOOPS else None
        if body is None or body.type != "compound_statement" or not body.named_children:
            continue
        last = body.named_children[-1]
        if last.type != "expression_statement" or "PIPE_ALL" in source.code(last):
            continue
        if "call_expression" not in {c.type for c in last.named_children}:
            continue
        text = "\n" + source.indent(last.start_byte) + BARRIER
        edit = Edit(last.end_byte, last.end_byte, text)
        sites.append(Match(last.end_byte, (edit,), note=f"line {source.line(last.end_byte)}"))
    return sites


def _at_start(source: Source) -> list[Match]:
    sites = []
    taken = {m.start for m in source.methods if m.name == "DeQue"}
    for function in source.functions:
        first = next(iter(function.body.named_children), None)
        inside = any(function.body.start_byte <= t < function.body.end_byte for t in taken)
        if first is None or not inside or "PIPE_ALL" in source.code(first):
            continue
        place = source.begin(first.start_byte)
        edit = Edit(place, place, BARRIER + "\n" + source.indent(first.start_byte))
        sites.append(Match(place, (edit,), note=function.name))
    return sites
