"""Several cores: rendezvous, conflicts in global memory, isolation, waves of blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.ci.simulator.machine_harness import MachineHarness

CORES = 8
X = np.arange(CORES * 64, dtype=np.float32)

# Each core copies its part to the workspace, and reads its neighbour's after the rendezvous.
EXCHANGE = """
    const int me = get_block_idx(), next = (me + 1) % get_block_num();
    copy_gm_to_ubuf(ub<float>(0), a[0] + me * 256, 0, 1, 8, 0, 0);
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm(a[2] + me * 256, ub<float>(0), 0, 1, 8, 0, 0);
    pipe_barrier(PIPE_ALL);
    SYNC
    copy_gm_to_ubuf(ub<float>(0x400), a[2] + next * 256, 0, 1, 8, 0, 0);
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm(a[1] + me * 256, ub<float>(0x400), 0, 1, 8, 0, 0);
"""


def exchange(sync: str, auto_sync: bool = False) -> dict[str, Any]:
    """How a launch of EXCHANGE that meets by `sync` is run."""
    return {"block_dim": CORES, "workspace": 4096, "auto_sync": auto_sync, "define": {"SYNC": sync}}


@pytest.mark.parametrize(
    "sync",
    [
        "dav_sync_all();",
        "ffts_cross_core_sync(PIPE_MTE3, 1 | (5 << 8)); wait_flag_dev(5);",
        "dav_core_set(me, 0); dav_core_wait(next, 0);",
    ],
)
def test_each_rendezvous_makes_other_cores_data_visible(harness: MachineHarness, sync: str) -> None:
    harness.equals(EXCHANGE, [X], [np.roll(X, -64)], **exchange(sync))


@pytest.mark.parametrize("auto_sync", [False, True])
def test_exchange_without_rendezvous_is_a_race_between_cores(
    harness: MachineHarness, auto_sync: bool
) -> None:
    message = harness.fails("race", EXCHANGE, [X], [X], **exchange("", auto_sync))
    assert "the workspace" in message and "SyncAll" in message


def test_core_that_skips_the_rendezvous_is_a_deadlock(harness: MachineHarness) -> None:
    how = exchange("if (me == 3) return; dav_sync_all();")
    message = harness.fails("launch_error", EXCHANGE, [X], [X], **how)
    assert "deadlock" in message and "SyncAll" in message


def test_sync_all_with_more_blocks_than_cores_is_a_deadlock(harness: MachineHarness) -> None:
    message = harness.fails("launch_error", "dav_sync_all();", block_dim=41)
    assert "41 blocks on 40 vector cores" in message


def test_rendezvous_costs_time_and_waits_for_the_slowest(harness: MachineHarness) -> None:
    slow = "if (get_block_idx() == 5) dav_scalar(10000);"
    without = harness.run(slow, block_dim=CORES)
    synced = harness.run(slow + "dav_sync_all();", block_dim=CORES)
    assert synced.cycles > without.cycles >= 10000
    assert synced.report["wait_cycles"]["SCALAR<-OTHER_CORES"] > 8000


OVERLAP = """
    vector_dup(ub<int32_t>(0), (int32_t)(VALUE), 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm(a[0] + get_block_idx() * 128, ub<float>(0), 0, 1, 8, 0, 0);
"""


def test_overlapping_writes_of_different_values_are_a_race(harness: MachineHarness) -> None:
    how = {"block_dim": 4, "define": {"VALUE": "get_block_idx()"}}
    assert "output 0" in harness.fails("race", OVERLAP, [], [np.zeros(512, np.int32)], **how)


def test_overlapping_writes_of_equal_values_are_only_a_warning(harness: MachineHarness) -> None:
    how = {"block_dim": 4, "define": {"VALUE": 7}}
    assert harness.ok(OVERLAP, [], [np.zeros(160, np.int32)], **how).warned("overlap")


def test_neighbours_within_one_block_do_not_conflict(harness: MachineHarness) -> None:
    body = """
    vector_dup(ub<int32_t>(0), (int32_t)get_block_idx(), 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm_align_b32(a[0] + get_block_idx() * 12, ub<float>(0), 0, 1, 12, 0, 0, 0, 0);
"""
    wanted = np.repeat(np.arange(CORES, dtype=np.int32), 3)
    harness.equals(body, [], [wanted], block_dim=CORES)


def test_interleaved_columns_do_not_conflict(harness: MachineHarness) -> None:
    body = """
    vector_dup(ub<int32_t>(0), (int32_t)get_block_idx(), 4, 1, 1, 8, 8);
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm(a[0] + get_block_idx() * 32, ub<float>(0), 0, 16, 1, 0, 7);
"""
    wanted = np.array([np.repeat(np.arange(CORES), 8)] * 16, np.int32)
    harness.equals(body, [], [wanted], block_dim=CORES)


def test_atomic_sums_of_many_cores_do_not_conflict(harness: MachineHarness) -> None:
    body = """
    vector_dup(ub<float>(0), 1.0f, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_ALL);
    if (get_block_idx() == 0) copy_ubuf_to_gm(a[0], ub<float>(0), 0, 1, 8, 0, 0);
    dav_sync_all();
    set_atomic_add(); set_atomic_f32();
    copy_ubuf_to_gm(a[0], ub<float>(0), 0, 1, 8, 0, 0);
    set_atomic_none();
"""
    harness.equals(body, [], [np.full(64, CORES + 1, np.float32)], block_dim=CORES)


def test_globals_of_the_kernel_are_each_cores_own(harness: MachineHarness) -> None:
    body = """
static int counter = 100;
static void kernel(u8** a) {
    counter += get_block_idx();
    dav_sync_all();
    counter += 1000;
    dav_sync_all();
    dav_scalar_store(a[0] + get_block_idx() * 4, 4);
    ((int*)a[0])[get_block_idx()] = counter;
}
"""
    harness.equals(body, [], [1100 + np.arange(CORES, dtype=np.int32)], block_dim=CORES)


def test_more_blocks_than_cores_run_in_waves(harness: MachineHarness) -> None:
    full, one_more = (harness.run("dav_scalar(10000);", block_dim=n).cycles for n in (40, 41))
    assert one_more > 1.9 * full
