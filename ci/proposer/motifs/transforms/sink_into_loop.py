"""Rewind of hoisting: move a vector call that stands right before a loop into the loop."""

from __future__ import annotations

from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import statement_range
from ci.proposer.motifs.transforms.loops import written_names
from ci.source.cpp_source import LOOPS, Edit, Source, root_name, walk


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Calls named in `calls` followed at once by a loop that does not write their result."""
    wanted = set(str(parameters["calls"]).split("|"))
    calls = source.statement_calls
    sites = []
    for block in walk(source.root):
        if block.type != "compound_statement":
            continue
        for one, loop in zip(block.named_children, block.named_children[1:], strict=False):
            call = calls.get(one.start_byte)
            body = loop.child_by_field_name("body") if loop.type in LOOPS else None
            if call is None or body is None or call.name not in wanted or not body.named_children:
                continue
            if body.type != "compound_statement" or not call.arguments:
                continue
            if root_name(call.arguments[0]) in written_names(source, body):
                continue
            start, end = statement_range(source, call)
            first = body.named_children[0]
            text = source.text[start:end] + "\n" + source.indent(first.start_byte)
            place = source.begin(first.start_byte)
            edits = (source.removal(start, end), Edit(place, place, text))
            sites.append(Match(start, edits, note=f"{call.name} of {root_name(call.arguments[0])}"))
    return sites
