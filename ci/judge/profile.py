"""A measurement as a person looks at it: a Chrome trace and msprof's tables.

Pure functions of what was measured, and the files that show it.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from ci.judge.msprof import kernel_kind, op_basic_info, pipe_utilization, resource_conflict
from ci.judge.timeline import Timeline, read_timeline
from ci.model.launch import TABLES
from ci.model.trial import CaseMeasurement, Measurement

# Pipes in the order in which a viewer shows their tracks.
PIPES: Final = ("SCALAR", "MTE2", "MTE1", "CUBE", "VECTOR", "FIX", "MTE3")
# Arrows that one case may have; their ids must differ within a file.
ARROWS: Final = 10_000_000
# Cores that a launch can have; the next case's processes are numbered after them.
CORES: Final = 10_000


def trace_events(process: int, case: CaseMeasurement, timeline: Timeline) -> list[dict[str, Any]]:
    """Chrome trace events of one case, µs as time: a thread a pipe and core, an arrow a wait.

    Processes are numbered from `process` on, one a core.
    """
    cycle_us = case.median_us / max(1, case.pipes.total_cycles)
    events: list[dict[str, Any]] = []
    for core in timeline.cores:
        label = f"{case.case}: {core.kind} core {core.core} (block {core.block})"
        events.append(_named("process_name", process + core.core, 0, label))
    threads: set[tuple[int, str]] = set()
    for span in timeline.spans:
        where = (span.core, span.pipe)
        if where not in threads:
            threads.add(where)
            events.append(_named("thread_name", process + span.core, _thread(span.pipe), span.pipe))
        events.append(
            {
                "ph": "X",
                "name": span.name,
                "cat": span.pipe,
                "pid": process + span.core,
                "tid": _thread(span.pipe),
                "ts": span.start * cycle_us,
                "dur": (span.end - span.start) * cycle_us,
                "args": {"start_cycle": span.start, "end_cycle": span.end, "bytes": span.bytes},
            }
        )
    for number, link in enumerate(timeline.links):
        name = f"event {link.event}" if link.event >= 0 else "inserted by automatic sync"
        common = {
            "name": name,
            "cat": "flag",
            "id": process * ARROWS + number,
            "pid": process + link.core,
        }
        # The arrow begins in what set the flag, which ends just then.
        begin = {"ph": "s", "tid": _thread(link.source), "ts": max(0.0, link.set - 0.5) * cycle_us}
        end = {"ph": "f", "bp": "e", "tid": _thread(link.target), "ts": link.until * cycle_us}
        events += [common | begin, common | end]
    return events


def _thread(pipe: str) -> int:
    return PIPES.index(pipe) if pipe in PIPES else len(PIPES)


def _named(what: str, process: int, thread: int, label: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": label}}


def chrome_trace(events: Iterable[dict[str, Any]], measurement: Measurement) -> str:
    """The file that chrome://tracing and Perfetto open."""
    fingerprint = measurement.fingerprint
    return json.dumps(
        {
            "traceEvents": list(events),
            "displayTimeUnit": "ns",
            "otherData": {
                "backend": fingerprint.backend,
                "device": fingerprint.device,
                "version": fingerprint.version,
                "time": "simulated time" if fingerprint.simulated else "time",
                "cores": "all cores of each launch, as far as the file stays readable",
            },
        }
    )


def write_profile(
    name: str, measurement: Measurement, timelines: Path, out: Path
) -> tuple[Path, tuple[Path, ...]]:
    """Write the trace, and msprof's tables of each case, into `out`; returns their paths.

    `name` is the operator's; `timelines` holds INDEX.jsonl of each case, or a folder INDEX.tables
    where a device left tables of its own and no timeline.
    """
    events, tables = [], []
    out.mkdir(parents=True, exist_ok=True)
    for index, case in enumerate(measurement.cases):
        folder = out / re.sub(r"[^A-Za-z0-9_.-]", "_", case.case).lstrip(".")
        for path in sorted((timelines / f"{index}{TABLES}").glob("*.csv")):
            folder.mkdir(exist_ok=True)
            tables.append(Path(shutil.copy(path, folder)))
        file = timelines / f"{index}.jsonl"
        if not file.is_file():
            continue
        with file.open(encoding="utf-8") as lines:
            timeline = read_timeline(lines)
        events += trace_events(index * CORES, case, timeline)
        clock = case.pipes.total_cycles / max(case.median_us, 1e-9)
        folder.mkdir(exist_ok=True)
        for title, text in (
            ("PipeUtilization.csv", pipe_utilization(timeline, clock)),
            ("ResourceConflictRatio.csv", resource_conflict(timeline, clock)),
            ("OpBasicInfo.csv", op_basic_info(name, kernel_kind(timeline), case, clock)),
        ):
            (folder / title).write_text(text, encoding="utf-8")
            tables.append(folder / title)
    trace = out / "trace.json"
    trace.write_text(chrome_trace(events, measurement), encoding="utf-8")
    return trace, tuple(tables)
