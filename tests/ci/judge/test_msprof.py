import csv
import io

from ci.judge.msprof import (
    NA,
    OP_BASIC_INFO,
    PIPE_UTILIZATION,
    RESOURCE_CONFLICT,
    kernel_kind,
    op_basic_info,
    pipe_utilization,
    resource_conflict,
)
from ci.judge.timeline import CoreTotals, Timeline
from ci.model.trial import CaseMeasurement, PipeTime


def core(kind: str = "vector", **changes: object) -> CoreTotals:
    given: dict[str, object] = {
        "core": 1,
        "kind": kind,
        "block": 1,
        "sub_block": 0,
        "begin": 100,
        "end": 2100,
        "conflict": 100,
        "bank": 20,
        "read_bytes": 30_000,
        "write_bytes": 8_000,
        "busy": {"VECTOR": 500, "MTE2": 1500, "MTE3": 400, "SCALAR": 50},
        "waits": {"VECTOR<-MTE2": 400, "SCALAR<-MTE2": 200, "SCALAR<-VECTOR": 100},
    }
    return CoreTotals.model_validate(given | changes)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_pipe_utilization_has_a_row_a_core_under_msprofs_names() -> None:
    timeline = Timeline(cores=(core(), core(block=2, core=2)))
    (first, second) = rows(pipe_utilization(timeline, 1000.0))
    assert tuple(first) == PIPE_UTILIZATION
    assert (first["block_id"], first["sub_block_id"], second["block_id"]) == ("1", "vector0", "2")
    assert (first["aiv_time(us)"], first["aiv_total_cycles"]) == ("2.000", "2000")
    assert (first["aiv_vec_time(us)"], first["aiv_vec_ratio"]) == ("0.500", "0.2500")
    assert (first["aiv_mte2_time(us)"], first["aiv_mte2_ratio"]) == ("1.500", "0.7500")
    # 30,000 bytes in 1.5 us are 20 GB/s, 8,000 in 0.4 us as well.
    assert (first["aiv_mte2_active_bw(GB/s)"], first["aiv_mte3_active_bw(GB/s)"]) == (
        "20.000",
        "20.000",
    )
    assert first["aiv_scalar_mte2_stall_time(us)"] == "0.200"
    assert first["aiv_scalar_vector_stall_time(us)"] == "0.100"
    assert first["aiv_scalar_wait_time(us)"] == "0.300"


def test_what_does_not_apply_or_is_not_modelled_is_na() -> None:
    (row,) = rows(pipe_utilization(Timeline(cores=(core(),)), 1000.0))
    assert all(value == NA for name, value in row.items() if name.startswith("aic_"))
    assert row["aiv_icache_miss_rate"] == NA
    assert row["aiv_scalar_dual_time(us)"] == NA


def test_a_cube_core_fills_the_other_half() -> None:
    busy = {"CUBE": 1000, "MTE1": 300, "FIX": 200, "SCALAR": 10}
    (row,) = rows(pipe_utilization(Timeline(cores=(core("cube", busy=busy),)), 1000.0))
    assert row["sub_block_id"] == "cube0"
    assert (row["aic_cube_time(us)"], row["aic_cube_ratio"]) == ("1.000", "0.5000")
    assert row["aic_fixpipe_active_bw(GB/s)"] == "40.000"
    assert all(value == NA for name, value in row.items() if name.startswith("aiv_"))


def test_conflicts_are_told_apart_and_waits_are_shares() -> None:
    (row,) = rows(resource_conflict(Timeline(cores=(core(),)), 1000.0))
    assert tuple(row) == RESOURCE_CONFLICT
    assert row["aiv_vec_total_cflt_ratio"] == "0.0500"
    assert row["aiv_vec_bankgroup_cflt_ratio"] == "0.0400"
    assert row["aiv_vec_bank_cflt_ratio"] == "0.0100"
    assert row["aiv_vec_resc_cflt_ratio"] == NA
    assert (row["aiv_vec_wait_ratio"], row["aiv_mte2_wait_ratio"]) == ("0.2000", "0.0000")


def test_basic_info_names_the_launch() -> None:
    pipes = PipeTime(total_cycles=4000, block_dim=8, busy_cycles={})
    case = CaseMeasurement(
        case="a", samples_us=(4.0,), median_us=4.0, low_us=4.0, high_us=4.0, pipes=pipes
    )
    (row,) = rows(op_basic_info("add", kernel_kind(Timeline(cores=(core(),))), case, 1000.0))
    assert tuple(row) == OP_BASIC_INFO
    assert (row["Op Name"], row["Op Type"], row["Block Dim"]) == ("add", "vector", "8")
    assert (row["Task Duration(us)"], row["Current Freq"], row["Pid"]) == ("4.000", "1000", NA)
    assert kernel_kind(Timeline(cores=(core(), core("cube")))) == "mix"
