"""Rewind of barrier removal: drain the vector pipe after every vector call of a function."""

from __future__ import annotations

from collections.abc import Mapping

from ci.cpp_source import Edit, Source
from ci.proposer.sequence import VECTOR_CALLS, namespace, statement_range
from ci.proposer.site import Site

LEAST = 2
"""Calls that a function must have for barriers between them to cost anything."""


def find(source: Source, parameters: Mapping[str, object]) -> list[Site]:
    """One site a function with at least two vector calls that no barrier follows."""
    sites = []
    for function in source.functions:
        edits = []
        for call in source.calls_in(function.body):
            if call.statement is None or call.name not in VECTOR_CALLS:
                continue
            _, end = statement_range(source, call)
            if "PipeBarrier" in source.shadow[end : end + 60]:
                continue
            text = f"\n{source.indent(call.start)}{namespace(source)}PipeBarrier<PIPE_V>();"
            edits.append(Edit(end, end, text))
        if len(edits) >= LEAST:
            sites.append(Site(edits[0].start, tuple(edits), note=function.name))
    return sites
