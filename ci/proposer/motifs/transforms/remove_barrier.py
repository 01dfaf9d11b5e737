"""Delete or narrow pipe barriers."""

from __future__ import annotations

from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import statement_range
from ci.source.cpp_source import Call, Edit, Source


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Barrier statements of `pipe`; `narrow` replaces the pipe instead of deleting them."""
    pipe, narrow = str(parameters["pipe"]), str(parameters.get("narrow", ""))
    sites = []
    for call in source.calls:
        if call.statement is None or pipe_of(call) != pipe:
            continue
        start, end = statement_range(source, call)
        if narrow:
            edit = Edit(start, end, source.text[start:end].replace(pipe, narrow))
        else:
            edit = source.removal(start, end)
        sites.append(Match(start, (edit,), note=f"line {source.line(start)}"))
    return sites


def pipe_of(call: Call) -> str:
    """PIPE_V of `PipeBarrier<PIPE_V>()` or `pipe_barrier(PIPE_V)`; '' for other calls."""
    if call.name == "PipeBarrier":
        return call.template.strip("<> ")
    if call.name == "pipe_barrier" and call.arguments:
        return call.arguments[0]
    return ""
