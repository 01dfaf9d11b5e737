"""A barrier of all pipes where one pipe waits for one other, and the event that says just that."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import namespace, statement_range
from ci.proposer.motifs.transforms.remove_barrier import pipe_of
from ci.source.cpp_source import Edit, Source

_FETCH = re.compile(
    r"(?:auto|event_t|int32_t|TEventID)\s+(\w+)\s*=\s*[^;]*?(?:FetchEventID|AllocEventID)\b[^;]*;\s*"
    r"SetFlag\s*<[^;]*>\s*\(\s*\1\s*\)\s*;\s*WaitFlag\s*<[^;]*>\s*\(\s*\1\s*\)\s*;"
)


def to_flag(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Each `PipeBarrier<PIPE_ALL>` becomes a flag of `event` that is set and awaited."""
    event, at = str(parameters["event"]), namespace(source)
    sites = []
    for number, call in enumerate(source.calls):
        if call.statement is None or pipe_of(call) != "PIPE_ALL":
            continue
        start, end = statement_range(source, call)
        kind, name = f"{at}HardEvent::{event}", f"only{number}"
        fetch = f"static_cast<event_t>(GetTPipePtr()->FetchEventID({kind}))"
        text = (
            f"event_t {name} = {fetch}; {at}SetFlag<{kind}>({name}); {at}WaitFlag<{kind}>({name});"
        )
        note = f"line {source.line(start)}, {event}"
        sites.append(Match(start, (Edit(start, end, text),), note=note))
    return sites


def to_barrier(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Rewind: an event fetched, set and awaited at one place becomes a barrier of all pipes."""
    sites = []
    for found in _FETCH.finditer(source.shadow):
        start = source.begin(found.start())
        edit = Edit(start, found.end(), f"{namespace(source)}PipeBarrier<PIPE_ALL>();")
        sites.append(Match(start, (edit,), note=f"line {source.line(start)}"))
    return sites
