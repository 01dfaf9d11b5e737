from __future__ import annotations

import csv
import io
import json

from ci.profile import chrome_trace, msprof_csv, pipe_shares, trace_events
from ci.trial import CaseMeasurement, Fingerprint, Measurement, PipeTime

FINGERPRINT = Fingerprint(backend="sim", device="910B4", version="1", simulated=True)


def measured(busy: dict[str, float]) -> Measurement:
    pipes = PipeTime(total_cycles=2000, block_dim=8, busy_cycles=busy)
    case = CaseMeasurement(
        case="a", samples_us=(4.0,), median_us=4.0, low_us=4.0, high_us=4.0, pipes=pipes
    )
    return Measurement(fingerprint=FINGERPRINT, cases=(case,))


VECTOR = measured({"VECTOR": 500.0, "MTE2": 1500.0, "MTE3": 0.0, "SCALAR": 100.0})


def test_shares_come_busiest_first_without_idle_pipes() -> None:
    rows = pipe_shares(VECTOR)
    assert [(r.pipe, r.share) for r in rows] == [("MTE2", 0.75), ("VECTOR", 0.25), ("SCALAR", 0.05)]


def test_the_table_has_msprofs_columns_and_microseconds() -> None:
    (row,) = csv.DictReader(io.StringIO(msprof_csv("Add", VECTOR)))
    assert row["OP Type"] == "Add"
    assert row["Task Duration(us)"] == "4.0000"
    assert row["Block Dim"] == "8"
    assert row["aiv_total_cycles"] == "2000"
    assert (row["aiv_vec_time(us)"], row["aiv_vec_ratio"]) == ("1.0000", "0.2500")
    assert (row["aiv_mte2_time(us)"], row["aiv_mte2_ratio"]) == ("3.0000", "0.7500")
    assert not [name for name in row if "icache" in name or name.startswith("aic_")]


def test_a_cube_kernel_has_the_cube_cores_columns() -> None:
    (row,) = csv.DictReader(io.StringIO(msprof_csv("Matmul", measured({"CUBE": 1000.0}))))
    assert row["aic_mac_ratio"] == "0.5000"


def test_a_trace_has_a_thread_a_pipe_and_microseconds() -> None:
    lines = [
        '{"pipe": "MTE2", "name": "copy_gm_to_ubuf", "start": 0, "end": 500, "bytes": 256}',
        '{"pipe": "VECTOR", "name": "vadd", "start": 500, "end": 600, "bytes": 0}',
    ]
    events = trace_events(3, VECTOR.cases[0], lines)
    copies = [e for e in events if e["name"] == "copy_gm_to_ubuf"]
    adds = [e for e in events if e["name"] == "vadd"]
    assert (copies[0]["ts"], copies[0]["dur"]) == (0.0, 1.0)
    assert (adds[0]["ts"], adds[0]["dur"]) == (1.0, 0.2)
    assert copies[0]["tid"] != adds[0]["tid"]
    assert {e["pid"] for e in events} == {3}


def test_the_trace_file_says_that_the_time_is_simulated() -> None:
    read = json.loads(chrome_trace([], VECTOR))
    assert read["traceEvents"] == []
    assert read["otherData"]["time"] == "simulated time"
