"""What `msprof op simulator` leaves: `trace.json` and `core*_instr_exe.csv` of each core.

In `trace.json` (Chrome's format) a process is a core, as core0.veccore1, a thread one of its pipes,
and times are µs. Flags are instructions too: SET_FLAG, WAIT_FLAG.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ci.backend.cann.profile.rows import Row, read_rows
from ci.model.trial import PipeTime

# The tools' names of the pipes -> the machine's. What is not here (FLOWCTRL, CACHEMISS, USEMASK,
# ALL) is no pipe of its own.
_PIPES: Final = {
    "VECTOR": "VECTOR", "VEC": "VECTOR", "SCALAR": "SCALAR", "CUBE": "CUBE", "MTE1": "MTE1",
    "MTE2": "MTE2", "MTE3": "MTE3", "FIXP": "FIX", "FIX": "FIX",
}  # fmt: skip
_CORE: Final = re.compile(r"core(\d+)\.(vec|cube)core(\d+)")
_FLAGS: Final = ("SET_FLAG", "WAIT_FLAG", "BAR", "BARRIER")


@dataclass(frozen=True)
class Instruction:
    """One line of `instr_exe.csv`: an instruction at one address of one core."""

    core: str
    name: str
    pipe: str
    calls: int
    cycles: float
    detail: str


@dataclass(frozen=True)
class Span:
    """An instruction on a pipe of a core, times in µs."""

    core: str
    pipe: str
    name: str
    start: float
    end: float


def read_instructions(folder: Path) -> list[Instruction]:
    """The instructions of all cores below the profiler's output."""
    found = []
    for path in sorted(folder.rglob("*_instr_exe*.csv")):
        core = path.name.split("_instr_exe")[0]
        for row in read_rows(path.read_text(errors="replace")):
            one = _instruction(core, row)
            if one is not None:
                found.append(one)
    return found


def read_spans(folder: Path) -> list[Span]:
    """The instructions on the timelines below the profiler's output, each once.

    The trace of all cores is taken where there is one, else those of each core. A file that was
    cut short (the simulator ran out of time) gives what can be read of it.
    """
    whole = folder.rglob("simulator/trace.json")
    paths = sorted(whole) or sorted(folder.rglob("trace.json"))
    found: list[Span] = []
    for path in paths:
        events = _events(path.read_text(errors="replace"))
        names = _names(events)
        found += [span for e in events if (span := _span(e, names, path.parent.name))]
    return found


def pipe_time(
    instructions: Iterable[Instruction], spans: Iterable[Span], clock_mhz: float, block_dim: int
) -> PipeTime | None:
    """The profile of the simulated launch; None when neither file says how long it took."""
    spans, instructions = list(spans), list(instructions)
    if not spans:
        return None
    begin, end = min(s.start for s in spans), max(s.end for s in spans)
    cores: dict[str, dict[str, float]] = {}
    for span in spans:
        if not span.name.startswith(_FLAGS):
            busy = cores.setdefault(span.core, {})
            busy[span.pipe] = busy.get(span.pipe, 0.0) + (span.end - span.start) * clock_mhz
    pipes = {pipe for busy in cores.values() for pipe in busy}
    ends = {c: max(s.end for s in spans if s.core == c) - begin for c in cores}
    counts: dict[str, int] = {}
    for one in instructions:
        counts[one.name.lower()] = counts.get(one.name.lower(), 0) + one.calls
    return PipeTime(
        total_cycles=round((end - begin) * clock_mhz),
        block_dim=block_dim,
        busy_cycles={
            pipe: sum(some) / len(some)
            for pipe in sorted(pipes)
            if (some := [busy[pipe] for busy in cores.values() if pipe in busy])
        },
        instructions=counts,
        imbalance=max(ends.values()) * len(ends) / sum(ends.values()) if ends else 1.0,
    )


def timeline_lines(spans: Iterable[Span], clock_mhz: float) -> list[str]:
    """The same as the machine writes a timeline (`ci/judge/timeline.py`): JSON lines, in cycles."""
    spans = list(spans)
    lines, numbers = [], {core: n for n, core in enumerate(sorted({s.core for s in spans}))}
    begin = min((s.start for s in spans), default=0.0)
    for core, number in numbers.items():
        own = [s for s in spans if s.core == core]
        busy: dict[str, float] = {}
        for span in own:
            if not span.name.startswith(_FLAGS):
                busy[span.pipe] = busy.get(span.pipe, 0.0) + (span.end - span.start) * clock_mhz
        named = _CORE.search(core)
        lines.append(
            {
                "core": number,
                "kind": "cube" if named and named.group(2) == "cube" else "vector",
                "block": int(named.group(1)) if named else number,
                "sub_block": int(named.group(3)) if named else 0,
                "begin": (min(s.start for s in own) - begin) * clock_mhz,
                "end": (max(s.end for s in own) - begin) * clock_mhz,
                "conflict": 0.0,
                "bank": 0.0,
                "read_bytes": 0,
                "write_bytes": 0,
                "busy": busy,
            }
        )
    lines += [
        {
            "core": numbers[s.core],
            "pipe": s.pipe,
            "name": s.name,
            "start": (s.start - begin) * clock_mhz,
            "end": (s.end - begin) * clock_mhz,
        }
        for s in spans
    ]
    return [json.dumps(line) for line in lines]


def _instruction(core: str, row: Row) -> Instruction | None:
    name, cycles = row.text("instr"), row.number("cycles")
    if not name or cycles is None:
        return None
    pipe = row.text("pipe").upper()
    return Instruction(
        core=core,
        name=name,
        pipe=_PIPES.get(pipe, pipe),
        calls=int(row.number("call_count") or 0),
        cycles=cycles,
        detail=row.text("detail"),
    )


def _events(text: str) -> list[dict[str, Any]]:
    try:
        data = json.loads(text)
    except ValueError:
        return _cut_short(text)
    found = data.get("traceEvents", []) if isinstance(data, dict) else data
    return [one for one in found if isinstance(one, dict)]


def _cut_short(text: str) -> list[dict[str, Any]]:
    """The whole events of a file that ends in the middle of one."""
    decoder, events = json.JSONDecoder(), []
    place = text.find("{", text.find("[")) if "[" in text else -1
    while place >= 0:
        try:
            one, end = decoder.raw_decode(text, place)
        except ValueError:
            break
        if isinstance(one, dict):
            events.append(one)
        place = text.find("{", end)
    return events


def _names(events: Iterable[dict[str, Any]]) -> dict[Any, str]:
    """What numbered processes (no thread) and threads are called."""
    found = {}
    for event in events:
        called = event.get("args", {}).get("name") if event.get("ph") == "M" else None
        if called is not None:
            thread = event.get("tid") if event.get("name") == "thread_name" else None
            found[event.get("pid"), thread] = str(called)
    return found


def _span(event: dict[str, Any], names: dict[Any, str], folder: str) -> Span | None:
    if event.get("ph") != "X":
        return None
    core = str(names.get((event.get("pid"), None), event.get("pid", folder)))
    thread = str(names.get((event.get("pid"), event.get("tid")), event.get("tid", "")))
    pipe = _PIPES.get(thread.upper())
    try:
        start, lasting = float(event["ts"]), float(event["dur"])
    except (KeyError, TypeError, ValueError):
        return None
    if pipe is None:
        return None
    return Span(core, pipe, str(event.get("name", "")), start, start + lasting)
