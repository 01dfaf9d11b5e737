"""Several cores: rendezvous, conflicts in global memory, isolation, waves of blocks."""

from __future__ import annotations

import numpy as np

from tests.ci.simulator.machine_harness import MachineHarness

CORES = 8
X = np.arange(CORES * 64, dtype=np.float32)

# Each core copies its part to the workspace, and reads its neighbour's after the rendezvous.
EXCHANGE = """
static void kernel(u8** a) {
    const int me = get_block_idx(), next = (me + 1) % get_block_num();
    copy_gm_to_ubuf(ub<float>(0), a[0] + me * 256, 0, 1, 8, 0, 0);
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm(a[2] + me * 256, ub<float>(0), 0, 1, 8, 0, 0);
    pipe_barrier(PIPE_ALL);
    SYNC
    copy_gm_to_ubuf(ub<float>(0x400), a[2] + next * 256, 0, 1, 8, 0, 0);
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm(a[1] + me * 256, ub<float>(0x400), 0, 1, 8, 0, 0);
}
"""


def test_sync_all_makes_other_cores_data_visible(harness: MachineHarness) -> None:
    body = EXCHANGE.replace("SYNC", "dav_sync_all();")
    done = harness.run(body, [X], [X], block_dim=CORES, workspace=4096)
    assert done.outcome == "ok", done.report
    np.testing.assert_array_equal(done.outputs[0], np.roll(X, -64))


def test_cross_core_flags_of_all_cores_work_as_a_rendezvous(harness: MachineHarness) -> None:
    flags = "ffts_cross_core_sync(PIPE_MTE3, 1 | (5 << 8)); wait_flag_dev(5);"
    done = harness.run(EXCHANGE.replace("SYNC", flags), [X], [X], block_dim=CORES, workspace=4096)
    assert done.outcome == "ok", done.report
    np.testing.assert_array_equal(done.outputs[0], np.roll(X, -64))


def test_signals_between_two_cores_order_them(harness: MachineHarness) -> None:
    signals = "dav_core_set(me, 0); dav_core_wait(next, 0);"
    done = harness.run(EXCHANGE.replace("SYNC", signals), [X], [X], block_dim=CORES, workspace=4096)
    assert done.outcome == "ok", done.report
    np.testing.assert_array_equal(done.outputs[0], np.roll(X, -64))


def test_exchange_without_rendezvous_is_a_race_between_cores(harness: MachineHarness) -> None:
    for auto_sync in (False, True):
        done = harness.run(
            EXCHANGE.replace("SYNC", ""), [X], [X],
            block_dim=CORES, workspace=4096, auto_sync=auto_sync,
        )  # fmt: skip
        assert done.outcome == "race"
        assert "the workspace" in done.report["message"]
        assert "SyncAll" in done.report["message"]


def test_core_that_skips_the_rendezvous_is_a_deadlock(harness: MachineHarness) -> None:
    body = EXCHANGE.replace("SYNC", "if (me == 3) return; dav_sync_all();")
    done = harness.run(body, [X], [X], block_dim=CORES, workspace=4096)
    assert done.outcome == "launch_error"
    assert "deadlock" in done.report["message"] and "SyncAll" in done.report["message"]


def test_sync_all_with_more_blocks_than_cores_is_a_deadlock(harness: MachineHarness) -> None:
    done = harness.run("static void kernel(u8**) { dav_sync_all(); }", block_dim=41)
    assert done.outcome == "launch_error"
    assert "41 blocks on 40 vector cores" in done.report["message"]


def test_rendezvous_costs_time_and_waits_for_the_slowest(harness: MachineHarness) -> None:
    body = """
static void kernel(u8** a) {
    if (get_block_idx() == 5) dav_scalar(10000);
    SYNC
}
"""
    without = harness.run(body.replace("SYNC", ""), block_dim=CORES)
    synced = harness.run(body.replace("SYNC", "dav_sync_all();"), block_dim=CORES)
    assert synced.cycles > without.cycles >= 10000
    assert synced.report["wait_cycles"]["SCALAR<-OTHER_CORES"] > 8000


OVERLAP = """
static void kernel(u8** a) {
    vector_dup(ub<int32_t>(0), (int32_t)(VALUE), 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm(a[0] + get_block_idx() * 128, ub<float>(0), 0, 1, 8, 0, 0);
}
"""


def test_overlapping_writes_of_different_values_are_a_race(harness: MachineHarness) -> None:
    out = np.zeros(512, np.int32)
    done = harness.run(OVERLAP.replace("VALUE", "get_block_idx()"), [], [out], block_dim=4)
    assert done.outcome == "race"
    assert "output 0" in done.report["message"]


def test_overlapping_writes_of_equal_values_are_only_a_warning(harness: MachineHarness) -> None:
    done = harness.run(OVERLAP.replace("VALUE", "7"), [], [np.zeros(160, np.int32)], block_dim=4)
    assert done.outcome == "ok", done.report
    assert any(w["kind"] == "overlap" for w in done.report["warnings"])


def test_neighbours_within_one_block_do_not_conflict(harness: MachineHarness) -> None:
    body = """
static void kernel(u8** a) {
    vector_dup(ub<int32_t>(0), (int32_t)get_block_idx(), 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm_align_b32(a[0] + get_block_idx() * 12, ub<float>(0), 0, 1, 12, 0, 0, 0, 0);
}
"""
    done = harness.run(body, [], [np.zeros(24, np.int32)], block_dim=CORES)
    assert done.outcome == "ok", done.report
    np.testing.assert_array_equal(done.outputs[0], np.repeat(np.arange(CORES), 3))


def test_interleaved_columns_do_not_conflict(harness: MachineHarness) -> None:
    body = """
static void kernel(u8** a) {
    vector_dup(ub<int32_t>(0), (int32_t)get_block_idx(), 4, 1, 1, 8, 8);
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm(a[0] + get_block_idx() * 32, ub<float>(0), 0, 16, 1, 0, 7);
}
"""
    done = harness.run(body, [], [np.zeros((16, 64), np.int32)], block_dim=CORES)
    assert done.outcome == "ok", done.report
    np.testing.assert_array_equal(done.outputs[0], [np.repeat(np.arange(CORES), 8)] * 16)


def test_atomic_sums_of_many_cores_do_not_conflict(harness: MachineHarness) -> None:
    body = """
static void kernel(u8** a) {
    vector_dup(ub<float>(0), 1.0f, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_ALL);
    if (get_block_idx() == 0) copy_ubuf_to_gm(a[0], ub<float>(0), 0, 1, 8, 0, 0);
    dav_sync_all();
    set_atomic_add(); set_atomic_f32();
    copy_ubuf_to_gm(a[0], ub<float>(0), 0, 1, 8, 0, 0);
    set_atomic_none();
}
"""
    done = harness.run(body, [], [np.zeros(64, np.float32)], block_dim=CORES)
    assert done.outcome == "ok", done.report
    assert (done.outputs[0] == CORES + 1).all()


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
    done = harness.run(body, [], [np.zeros(CORES, np.int32)], block_dim=CORES)
    assert done.outcome == "ok", done.report
    np.testing.assert_array_equal(done.outputs[0], 1100 + np.arange(CORES))


def test_more_blocks_than_cores_run_in_waves(harness: MachineHarness) -> None:
    body = "static void kernel(u8**) { dav_scalar(10000); }"
    full = harness.run(body, block_dim=40)
    one_more = harness.run(body, block_dim=41)
    assert one_more.cycles > 1.9 * full.cycles
