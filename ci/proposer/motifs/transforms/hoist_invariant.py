"""Move a vector call whose operands do not change in a loop in front of the loop."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import statement_range
from ci.proposer.motifs.transforms.loops import written_names
from ci.source.cpp_source import LOOPS, Call, Edit, Source, identifiers, root_name, walk

_NOT_DATA = re.compile(r"^(?:RoundMode|CAST_\w+|CMPMODE|static_cast|sizeof|this)$")


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Calls named in `calls` (separated by |) that stand directly in a loop's body."""
    wanted = set(str(parameters["calls"]).split("|"))
    sites = []
    for loop in walk(source.root):
        body = loop.child_by_field_name("body") if loop.type in LOOPS else None
        if body is None or body.type != "compound_statement":
            continue
        for call in source.calls_in(body):
            if call.name in wanted and call.statement and call.statement.parent == body:
                site = _site(source, loop, body, call)
                if site is not None:
                    sites.append(site)
    return sites


def _site(source: Source, loop: Node, body: Node, call: Call) -> Match | None:
    assert call.statement is not None
    if not call.arguments:
        return None
    target = root_name(call.arguments[0])
    others = [s for s in body.named_children if s != call.statement]
    changing = set().union(*(written_names(source, s) for s in others), _loop_names(source, loop))
    needed = {n for a in call.arguments for n in identifiers(a) if not _NOT_DATA.match(n)}
    if target in changing or needed - {target} & changing or needed & changing:
        return None
    before = [s for s in others if s.end_byte <= call.statement.start_byte]
    if any(target in identifiers(source.code(s)) for s in before):
        return None
    start, end = statement_range(source, call)
    text = source.text[start:end] + "\n" + source.indent(loop.start_byte)
    edits = (Edit(loop.start_byte, loop.start_byte, text), source.removal(start, end))
    return Match(start, edits, note=f"{call.name} of {target}")


def _loop_names(source: Source, loop: Node) -> set[str]:
    """Names that the loop's head changes."""
    names: set[str] = set()
    for child in loop.named_children:
        if child != loop.child_by_field_name("body"):
            names |= written_names(source, child)
    return names
