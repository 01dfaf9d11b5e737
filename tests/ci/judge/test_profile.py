from __future__ import annotations

import csv
import json
from pathlib import Path

from ci.judge.profile import chrome_trace, trace_events, write_profile
from ci.judge.timeline import read_timeline
from ci.model.trial import CaseMeasurement, Fingerprint, Measurement, PipeTime

FINGERPRINT = Fingerprint(backend="sim", device="910B4", version="1", simulated=True)


def measured(busy: dict[str, float]) -> Measurement:
    pipes = PipeTime(total_cycles=2000, block_dim=8, busy_cycles=busy)
    case = CaseMeasurement(
        case="a", samples_us=(4.0,), median_us=4.0, low_us=4.0, high_us=4.0, pipes=pipes
    )
    return Measurement(fingerprint=FINGERPRINT, cases=(case,))


VECTOR = measured({"VECTOR": 500.0, "MTE2": 1500.0, "MTE3": 0.0, "SCALAR": 100.0})


LINES = [
    '{"core": 0, "kind": "vector", "block": 0, "sub_block": 0, "begin": 0, "end": 2000,'
    ' "conflict": 100, "bank": 20, "read_bytes": 3000, "write_bytes": 1000,'
    ' "busy": {"VECTOR": 500, "MTE2": 1500}, "copies": {"MTE2": 3},'
    ' "waits": {"VECTOR<-MTE2": 400, "SCALAR<-MTE2": 200}}',
    '{"core": 0, "pipe": "MTE2", "name": "copy_gm_to_ubuf", "start": 0, "end": 500,'
    ' "site": "0x1", "bytes": 256}',
    '{"core": 0, "pipe": "VECTOR", "name": "vadd", "start": 500, "end": 600, "site": "0x2",'
    ' "bytes": 0}',
    '{"core": 0, "from": "MTE2", "to": "VECTOR", "event": 3, "set": 500, "until": 501}',
]
TIMELINE = read_timeline(LINES)


def test_a_trace_has_a_track_a_pipe_and_core_and_microseconds() -> None:
    events = trace_events(7, VECTOR.cases[0], TIMELINE)
    (copy,) = [e for e in events if e["name"] == "copy_gm_to_ubuf"]
    (add,) = [e for e in events if e["name"] == "vadd"]
    assert (copy["ts"], copy["dur"]) == (0.0, 1.0)
    assert (add["ts"], add["dur"]) == (1.0, 0.2)
    assert copy["tid"] != add["tid"]
    assert {e["pid"] for e in events} == {7}
    names = {e["args"]["name"] for e in events if e["ph"] == "M"}
    assert names == {"a: vector core 0 (block 0)", "MTE2", "VECTOR"}


def test_a_flag_is_an_arrow_from_what_set_it_to_what_waited() -> None:
    events = trace_events(0, VECTOR.cases[0], TIMELINE)
    begin, end = (e for e in events if e.get("cat") == "flag")
    assert (begin["ph"], end["ph"], begin["name"]) == ("s", "f", "event 3")
    assert begin["id"] == end["id"]
    copy = next(e for e in events if e["name"] == "copy_gm_to_ubuf")
    assert copy["tid"] == begin["tid"] != end["tid"]
    assert copy["ts"] <= begin["ts"] < copy["ts"] + copy["dur"], "inside the copy it comes from"


def test_the_trace_file_says_that_the_time_is_simulated() -> None:
    read = json.loads(chrome_trace([], VECTOR))
    assert read["traceEvents"] == []
    assert read["otherData"]["time"] == "simulated time"


def test_the_tables_have_the_clock_that_makes_the_cycles_the_measured_time(tmp_path: Path) -> None:
    (tmp_path / "timelines").mkdir()
    (tmp_path / "timelines" / "0.jsonl").write_text("\n".join(LINES))
    _, tables = write_profile("Scale", VECTOR, tmp_path / "timelines", tmp_path / "out")
    by_name = {path.name: next(csv.DictReader(path.open())) for path in tables}
    assert by_name["OpBasicInfo.csv"]["Current Freq"] == "500"  # MHz: 2000 cycles in 4 µs
    assert float(by_name["PipeUtilization.csv"]["aiv_time(us)"]) == 4.0
