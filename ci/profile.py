"""A measurement as tools for performance work know it: msprof's columns and a Chrome trace.

Pure functions of what was measured; the command line writes the files.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ci.trial import CaseMeasurement, Frozen, Measurement

# msprof's column stems for the pipes of a vector core (aiv) and of a cube core (aic).
VECTOR_CORE: Final = {"VECTOR": "vec", "SCALAR": "scalar", "MTE2": "mte2", "MTE3": "mte3"}
CUBE_CORE: Final = {"CUBE": "mac", "MTE1": "mte1", "FIX": "fixpipe"}


class PipeShare(Frozen):
    """One pipe in one case."""

    case: str
    pipe: str
    busy_cycles: float
    share: float
    """Busy cycles over the launch's cycles, 0 to 1."""


def pipe_shares(measurement: Measurement) -> list[PipeShare]:
    """Every pipe that did anything, case by case, the busiest first."""
    return [
        PipeShare(
            case=case.case,
            pipe=pipe,
            busy_cycles=cycles,
            share=cycles / max(1, case.pipes.total_cycles),
        )
        for case in measurement.cases
        for pipe, cycles in sorted(case.pipes.busy_cycles.items(), key=lambda item: -item[1])
        if cycles > 0
    ]


def msprof_csv(op_type: str, measurement: Measurement) -> str:
    """One row a case under the names that msprof's op_summary and PipeUtilization tables use.

    Times are µs of one core, ratios shares of the launch. Columns that nothing here measures, such
    as the instruction cache's miss rate, are left out and not filled with zeros.
    """
    pipes = VECTOR_CORE
    used = {pipe for case in measurement.cases for pipe, n in case.pipes.busy_cycles.items() if n}
    core = "aic" if used & set(CUBE_CORE) else "aiv"
    if core == "aic":
        pipes = VECTOR_CORE | CUBE_CORE
    header = ["Op Name", "OP Type", "Task Duration(us)", "Block Dim"]
    header += [f"{core}_time(us)", f"{core}_total_cycles"]
    for stem in pipes.values():
        header += [f"{core}_{stem}_time(us)", f"{core}_{stem}_ratio"]
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(header)
    for case in measurement.cases:
        total = max(1, case.pipes.total_cycles)
        cycle_us = case.median_us / total
        row: list[object] = [case.case, op_type, f"{case.median_us:.4f}", case.pipes.block_dim]
        row += [f"{case.median_us:.4f}", case.pipes.total_cycles]
        for pipe in pipes:
            busy = case.pipes.busy_cycles.get(pipe, 0.0)
            row += [f"{busy * cycle_us:.4f}", f"{busy / total:.4f}"]
        table.writerow(row)
    return file.getvalue()


def trace_events(
    process: int, case: CaseMeasurement, timeline: Iterable[str]
) -> list[dict[str, Any]]:
    """Chrome trace events of one case: a process a case, a thread a pipe, µs as time.

    `timeline` is the backend's lines of JSON, one an instruction of core 0, in cycles.
    """
    cycle_us = case.median_us / max(1, case.pipes.total_cycles)
    threads: dict[str, int] = {}
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": process, "args": {"name": case.case}}
    ]
    for line in timeline:
        one: Mapping[str, Any] = json.loads(line)
        pipe = str(one["pipe"])
        if pipe not in threads:
            threads[pipe] = len(threads)
            events.append(
                {
                    "ph": "M",
                    "name": "thread_name",
                    "pid": process,
                    "tid": threads[pipe],
                    "args": {"name": pipe},
                }
            )
        start, end = float(one["start"]), float(one["end"])
        events.append(
            {
                "ph": "X",
                "name": str(one["name"]),
                "cat": pipe,
                "pid": process,
                "tid": threads[pipe],
                "ts": start * cycle_us,
                "dur": (end - start) * cycle_us,
                "args": {"start_cycle": start, "end_cycle": end, "bytes": one.get("bytes", 0)},
            }
        )
    return events


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
                "core": "core 0 of each launch",
            },
        }
    )
