"""Replace a loop of copies that continue each other by one copy."""

from __future__ import annotations

from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.transforms.loops import CountingLoop, counting_loops, same, slice_of
from ci.source.cpp_source import Edit, Source


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Loops whose body is one DataCopy of a run as long as both strides."""
    calls = source.statement_calls
    sites = []
    for loop in counting_loops(source):
        if len(loop.statements) != 1:
            continue
        call = calls.get(loop.statements[0].start_byte)
        if call is None or call.name != "DataCopy" or len(call.arguments) != 3:
            continue
        target = slice_of(call.arguments[0], loop.index)
        origin = slice_of(call.arguments[1], loop.index)
        length = call.arguments[2]
        if target is None or origin is None or not target.stride or not origin.stride:
            continue
        if not same(target.stride, length) or not same(origin.stride, length):
            continue
        prefix = source.text[source.begin(call.start) : call.start]
        text = f"{prefix}DataCopy({target.whole}, {origin.whole}, {times(loop, length)});"
        edit = Edit(loop.node.start_byte, loop.node.end_byte, text)
        sites.append(Match(loop.node.start_byte, (edit,), note=target.tensor))
    return sites


def times(loop: CountingLoop, length: str) -> str:
    """count * length, with parentheses where a sum needs them."""
    parts = (loop.count, length)
    return " * ".join(f"({p})" if any(c in p for c in "+-?/%<") else p for p in parts)
