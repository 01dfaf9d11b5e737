"""Replace a loop of vector calls on consecutive rows by one call on all rows."""

from __future__ import annotations

from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.transforms.loops import CountingLoop, counting_loops, same, slice_of
from ci.proposer.motifs.transforms.merge_copies import times
from ci.source.cpp_source import Call, Edit, Source
from rules.api import load_api


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Loops over rows whose calls all use row `i` of width equal to the count."""
    calls = source.statement_calls
    sites = []
    for loop in counting_loops(source):
        merged = []
        for statement in loop.statements:
            call = calls.get(statement.start_byte)
            if call is not None and call.name == "PipeBarrier":
                merged.append(source.of(statement))
                continue
            text = _merged(source, loop, call) if call is not None else None
            if text is None:
                break
            merged.append(text)
        else:
            if any("PipeBarrier" not in m for m in merged):
                separator = "\n" + source.indent(loop.node.start_byte)
                edit = Edit(loop.node.start_byte, loop.node.end_byte, separator.join(merged))
                sites.append(Match(loop.node.start_byte, (edit,), note=f"loop over {loop.index}"))
    return sites


def _merged(source: Source, loop: CountingLoop, call: Call) -> str | None:
    family = load_api().calls.get(call.name)
    if family is None or not family.elementwise or not family.counts(call.arguments):
        return None
    if call.template:
        return None
    count = call.arguments[-1]
    parts = []
    for argument in call.arguments[: family.tensors]:
        piece = slice_of(argument, loop.index)
        if piece is None or not piece.stride or not same(piece.stride, count):
            return None
        parts.append(piece.whole)
    rest = call.arguments[family.tensors : -1]
    if any(slice_of(r, loop.index) is None or slice_of(r, loop.index).stride for r in rest):  # type: ignore[union-attr]
        return None
    if any("GetValue" in r for r in rest):
        return None
    prefix = source.text[source.begin(call.start) : call.start]
    return f"{prefix}{call.name}({', '.join([*parts, *rest, times(loop, count)])});"
