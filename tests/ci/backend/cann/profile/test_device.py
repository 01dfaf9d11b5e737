"""Tables of a device become the same profile as the simulator's, whatever is missing of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.backend.cann.profile.launches import of_kernel, read_basic_info, read_launches
from ci.backend.cann.profile.pipes import read_pipes
from ci.backend.cann.profile.rows import read_rows
from ci.model.trial import PipeTime
from tests.ci.backend.cann.profile.made import OP_SUMMARY, PIPES, write_launch

CLOCK = 1650.0


def profile(folder: Path) -> PipeTime:
    return read_pipes(folder, read_basic_info(folder)[0], CLOCK)


def test_a_mixed_kernel_gives_the_mean_over_the_cores_that_have_a_pipe(tmp_path: Path) -> None:
    found = profile(write_launch(tmp_path / "OPPROF_1"))
    assert found.total_cycles == round(12.34 * CLOCK)
    assert found.block_dim == 2
    assert found.busy_cycles["VECTOR"] == pytest.approx(2.5 * CLOCK)
    assert found.busy_cycles["MTE2"] == pytest.approx(4.0 * CLOCK)  # of all three cores
    assert found.busy_cycles["CUBE"] == pytest.approx(4.0 * CLOCK)
    assert found.imbalance == pytest.approx(8.0 / (16.0 / 3))


def test_bytes_are_those_of_all_cores_and_conflicts_a_mean(tmp_path: Path) -> None:
    found = profile(write_launch(tmp_path / "OPPROF_1"))
    assert (found.gm_read_bytes, found.gm_write_bytes) == (round(258.5 * 1024), round(64.5 * 1024))
    assert found.bank_conflict_cycles == pytest.approx(0.2 * 6600)


def test_hit_rates_and_shares_are_kept_as_counters(tmp_path: Path) -> None:
    found = profile(write_launch(tmp_path / "OPPROF_1"))
    assert found.counters == {
        "aiv_read_hit_rate(%)": 50.0,
        "aiv_vec_fp32_ratio": 0.25,
        "aiv_vec_fp16_ratio": 0.0,
    }


def test_missing_tables_leave_what_they_would_say_unknown(tmp_path: Path) -> None:
    found = profile(write_launch(tmp_path / "OPPROF_1", PipeUtilization=PIPES))
    assert found.gm_read_bytes == 0
    assert found.counters == {}
    bare = write_launch(tmp_path / "OPPROF_2", Other="")
    assert profile(bare).busy_cycles == {}


def test_the_order_of_columns_does_not_matter(tmp_path: Path) -> None:
    turned = "\n".join(",".join(reversed(line.split(","))) for line in PIPES.splitlines())
    straight = profile(write_launch(tmp_path / "a", PipeUtilization=PIPES))
    assert profile(write_launch(tmp_path / "b", PipeUtilization=turned)) == straight


def test_a_table_that_was_cut_short_gives_its_whole_rows(tmp_path: Path) -> None:
    found = profile(write_launch(tmp_path / "a", PipeUtilization=PIPES[: PIPES.rindex("2.0,0.5")]))
    assert "VECTOR" not in found.busy_cycles
    assert found.busy_cycles["CUBE"] == pytest.approx(4.0 * CLOCK)
    assert read_rows("") == []


def test_launches_come_in_the_order_in_which_they_were_made(tmp_path: Path) -> None:
    for number in (10, 2, 0):
        write_launch(tmp_path / "OPPROF_1" / "add_custom_mix_aic" / str(number), us=number + 1.0)
    found = of_kernel(read_basic_info(tmp_path), "add_custom")
    assert [one.us for one in found] == [1.0, 3.0, 11.0]
    assert of_kernel(found, "other") == []


def test_a_launch_tells_its_clock_as_a_share_of_the_rated_one(tmp_path: Path) -> None:
    slow = read_basic_info(write_launch(tmp_path / "a", clock="1320"))[0].sample
    assert slow.clock == pytest.approx(0.8)
    silent = read_basic_info(write_launch(tmp_path / "b", clock="NA"))[0].sample
    assert silent.clock != silent.clock


def test_a_time_stamp_in_the_name_is_read_over(tmp_path: Path) -> None:
    folder = write_launch(tmp_path / "a")
    for path in folder.iterdir():
        path.rename(path.with_name(f"{path.stem}_20261122101112131.csv"))
    assert profile(folder).gm_write_bytes == round(64.5 * 1024)


def test_op_summary_has_launches_and_pipes_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "mindstudio_profiler_output").mkdir()
    path = tmp_path / "mindstudio_profiler_output" / "op_summary_20261122101112.csv"
    path.write_text(OP_SUMMARY)
    found = read_launches(tmp_path, "add_custom")
    assert [(one.us, one.kind, one.block_dim) for one in found] == [
        (12.5, "MIX_AIC", 2),
        (11.5, "MIX_AIC", 2),
    ]
    pipes = read_pipes(tmp_path / "nothing", found[0], CLOCK)
    assert pipes.busy_cycles["CUBE"] == pytest.approx(6.0 * CLOCK)
    assert pipes.busy_cycles["MTE2"] == pytest.approx(3.0 * CLOCK)
