"""Barriers and flags that make pipes wait for each other: delete, narrow, exchange, add."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import namespace, statement_range
from ci.proposer.motifs.transforms.nodes import after, before, braced_loops, neighbours
from ci.source.cpp_source import Call, Edit, Source

BARRIER = "AscendC::PipeBarrier<PIPE_ALL>();"

_FETCH = re.compile(
    r"(?:auto|event_t|int32_t|TEventID)\s+(\w+)\s*=\s*[^;]*?(?:FetchEventID|AllocEventID)\b[^;]*;\s*"
    r"SetFlag\s*<[^;]*>\s*\(\s*\1\s*\)\s*;\s*WaitFlag\s*<[^;]*>\s*\(\s*\1\s*\)\s*;"
)
_SET = re.compile(r"^(?:SetFlag|set_flag)(<.*>)?\((.*)\);$")
_WAIT = re.compile(r"^(?:WaitFlag|wait_flag)(<.*>)?\((.*)\);$")


def remove_barrier(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Barrier statements of `pipe`; `narrow` replaces the pipe instead of deleting them."""
    pipe, narrow = str(parameters["pipe"]), str(parameters.get("narrow", ""))
    for call in source.statement_calls.values():
        if _pipe_of(call) != pipe:
            continue
        start, end = statement_range(source, call)
        if narrow:
            edit = Edit(start, end, source.text[start:end].replace(pipe, narrow))
        else:
            edit = source.removal(start, end)
        yield Match(start, (edit,), note=f"{pipe} in line {source.line(start)}")


def _pipe_of(call: Call) -> str:
    """PIPE_V of `PipeBarrier<PIPE_V>()` or `pipe_barrier(PIPE_V)`; '' for other calls."""
    if call.name == "PipeBarrier":
        return call.template.strip("<> ")
    if call.name == "pipe_barrier" and call.arguments:
        return call.arguments[0]
    return ""


def add_barrier(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Rewind: end every loop body that calls functions with a barrier, where none is yet.

    With `place: start` the barrier opens the body of each function that takes from a queue.
    """
    if parameters.get("place") == "start":
        yield from _at_start(source)
        return
    for _, body in braced_loops(source):
        last = body.named_children[-1]
        if last.type != "expression_statement" or "PIPE_ALL" in source.code(last):
            continue
        if "call_expression" in {c.type for c in last.named_children}:
            note = f"line {source.line(last.end_byte)}"
            yield Match(last.end_byte, (after(source, last, BARRIER),), note=note)


def _at_start(source: Source) -> Iterator[Match]:
    taken = {m.start for m in source.methods if m.name == "DeQue"}
    for function in source.functions:
        first = next(iter(function.body.named_children), None)
        inside = any(function.body.start_byte <= t < function.body.end_byte for t in taken)
        if first is not None and inside and "PIPE_ALL" not in source.code(first):
            edit = before(source, first, BARRIER)
            yield Match(edit.start, (edit,), note=function.name)


def barrier_to_flag(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Each `PipeBarrier<PIPE_ALL>` becomes a flag of `event` that is set and awaited.

    Where one pipe waits for one other, the event says just that.
    """
    event, at = str(parameters["event"]), namespace(source)
    for number, call in enumerate(source.calls):
        if call.statement is None or _pipe_of(call) != "PIPE_ALL":
            continue
        start, end = statement_range(source, call)
        kind, name = f"{at}HardEvent::{event}", f"only{number}"
        fetch = f"static_cast<event_t>(GetTPipePtr()->FetchEventID({kind}))"
        text = (
            f"event_t {name} = {fetch}; {at}SetFlag<{kind}>({name}); {at}WaitFlag<{kind}>({name});"
        )
        note = f"line {source.line(start)}, {event}"
        yield Match(start, (Edit(start, end, text),), note=note)


def flag_to_barrier(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Rewind: an event fetched, set and awaited at one place becomes a barrier of all pipes."""
    for found in _FETCH.finditer(source.shadow):
        start = source.begin(found.start())
        edit = Edit(start, found.end(), f"{namespace(source)}PipeBarrier<PIPE_ALL>();")
        yield Match(start, (edit,), note=f"line {source.line(start)}")


def remove_flag_pair(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """A SetFlag that the WaitFlag of its event follows at once: pipes wait there, needed or not."""
    for one, two in neighbours(source):
        first, second = _SET.match(source.code(one)), _WAIT.match(source.code(two))
        if first and second and first.groups() == second.groups():
            edits = tuple(
                source.removal(source.begin(s.start_byte), s.end_byte) for s in (one, two)
            )
            yield Match(one.start_byte, edits, note=f"line {source.line(one.start_byte)}")
