"""What the toolkit's simulator leaves becomes a profile and a timeline as the machine's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ci.backend.cann.profile.simulated import (
    pipe_time,
    read_instructions,
    read_spans,
    timeline_lines,
)
from ci.judge.timeline import read_timeline
from tests.ci.backend.cann.profile.made import INSTRUCTIONS

CLOCK = 1000.0


def event(core: str, pipe: str, name: str, start: float, lasting: float) -> dict[str, Any]:
    args = {"pc_addr": "0x1130c000", "detail": ""}
    return {
        "name": name, "cname": "startup", "ph": "X", "ts": start, "dur": lasting,
        "pid": core, "tid": pipe, "args": args,
    }  # fmt: skip


EVENTS = [
    event("core0.veccore0", "MTE2", "MOV_OUT_TO_UB", 1.0, 2.0),
    event("core0.veccore0", "VECTOR", "VADD", 3.0, 1.0),
    event("core0.veccore0", "SCALAR", "WAIT_FLAG", 1.0, 9.0),
    event("core0.veccore1", "VECTOR", "VADD", 3.0, 3.0),
    event("core0.veccore1", "CACHEMISS", "miss", 0.0, 1.0),
    {"name": "flow", "ph": "s", "ts": 1.0, "pid": "core0.veccore0", "tid": "MTE2", "id": "1"},
]


def write(folder: Path, text: str) -> Path:
    place = folder / "OPPROF_1" / "simulator"
    (place / "core0.veccore0").mkdir(parents=True)
    (place / "trace.json").write_text(text)
    (place / "core0.veccore0" / "trace.json").write_text(text)
    (place / "core0.veccore0" / "core0.veccore0_instr_exe.csv").write_text(INSTRUCTIONS)
    return folder


def test_busy_times_are_means_over_cores_and_flags_are_no_work(tmp_path: Path) -> None:
    folder = write(tmp_path, json.dumps({"traceEvents": EVENTS}))
    found = pipe_time(read_instructions(folder), read_spans(folder), CLOCK, 1)
    assert found is not None
    assert found.total_cycles == 9000
    assert found.busy_cycles == {"MTE2": pytest.approx(2000.0), "VECTOR": pytest.approx(2000.0)}
    assert found.instructions == {"mov_out_to_ub": 16, "vadd": 8, "wait_flag": 16}


def test_the_timeline_reads_as_the_machines(tmp_path: Path) -> None:
    spans = read_spans(write(tmp_path, json.dumps({"traceEvents": EVENTS})))
    found = read_timeline(timeline_lines(spans, CLOCK))
    assert [(c.kind, c.block, c.sub_block) for c in found.cores] == [
        ("vector", 0, 0),
        ("vector", 0, 1),
    ]
    assert found.cores[0].busy == {"MTE2": 2000.0, "VECTOR": 1000.0}
    assert (found.spans[1].name, found.spans[1].start, found.spans[1].end) == ("VADD", 2000, 3000)


def test_a_trace_with_numbered_processes_is_read_by_their_names(tmp_path: Path) -> None:
    named = [
        {"name": "process_name", "ph": "M", "pid": 3, "args": {"name": "core1.cubecore0"}},
        {"name": "thread_name", "ph": "M", "pid": 3, "tid": 8, "args": {"name": "CUBE"}},
        {**EVENTS[0], "pid": 3, "tid": 8, "name": "MMAD"},
    ]
    spans = read_spans(write(tmp_path, json.dumps(named)))
    assert [(s.core, s.pipe, s.name) for s in spans] == [("core1.cubecore0", "CUBE", "MMAD")]


def test_a_trace_that_was_cut_short_gives_its_whole_events(tmp_path: Path) -> None:
    text = json.dumps({"traceEvents": EVENTS})
    spans = read_spans(write(tmp_path, text[: text.index('"WAIT_FLAG"')]))
    assert [span.name for span in spans] == ["MOV_OUT_TO_UB", "VADD"]


def test_nothing_simulated_gives_no_profile(tmp_path: Path) -> None:
    assert pipe_time(read_instructions(tmp_path), read_spans(tmp_path), CLOCK, 1) is None
