"""Let two scratch buffers of equal size be one, which leaves UB for larger tiles."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import clean
from ci.source.cpp_source import Edit, Source, identifiers


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Pairs of TBufs of one size that are never taken in the same function."""
    inits = [
        m
        for m in source.methods
        if m.name == "InitBuffer" and len(m.arguments) == 2 and m.statement
    ]
    takes = [m for m in source.methods if m.name == "Get"]
    homes = {
        m.arguments[0]: {
            f.node.start_byte
            for g in takes
            if g.object == clean(m.arguments[0]) and (f := source.function_at(g.start))
        }
        for m in inits
    }
    sites = []
    for one, two in combinations(inits, 2):
        a, b = one.arguments[0], two.arguments[0]
        if clean(one.arguments[1]) != clean(two.arguments[1]) or not homes[a] or not homes[b]:
            continue
        if homes[a] & homes[b] or _call_each_other(source, homes[a] | homes[b]):
            continue
        assert two.statement is not None
        edits = [source.removal(two.statement.start_byte, two.statement.end_byte)]
        for take in takes:
            if take.object == clean(b):
                place = source.shadow.index(clean(b), take.start)
                edits.append(Edit(place, place + len(clean(b)), clean(a)))
        sites.append(Match(two.start, tuple(edits), note=f"{a} and {b}", others=(one.start,)))
    return sites


def _call_each_other(source: Source, starts: set[int]) -> bool:
    """Whether one of the functions calls another: their buffers are then live together."""
    some = [f for f in source.functions if f.node.start_byte in starts]
    return any(
        one is not two and two.name in identifiers(source.code(one.body))
        for one in some
        for two in some
    )
