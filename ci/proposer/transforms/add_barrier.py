"""Rewind of barrier removal: end every loop body that computes with a barrier of all pipes."""

from __future__ import annotations

from collections.abc import Mapping

from ci.cpp_source import LOOPS, Edit, Source, walk
from ci.proposer.site import Site

BARRIER = "AscendC::PipeBarrier<PIPE_ALL>();"


def find(source: Source, parameters: Mapping[str, object]) -> list[Site]:
    """The loops whose body calls functions and does not end with a barrier yet."""
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
        sites.append(Site(last.end_byte, (edit,), note=f"line {source.line(last.end_byte)}"))
    return sites
