"""How cores share L2 and the memory behind it."""

from __future__ import annotations

import numpy as np
import pytest

from rules.devices import load_device
from tests.ci.simulator.machine_harness import Launch, MachineHarness

LOADS = """
    for (int i = 0; i < 8; i++)
        copy_gm_to_ubuf(ub<u8>(0), a[0] + (PLACE) % (1 << 25), 0, 1, LENGTH / 32, 0, 0);
"""


def loads(
    harness: MachineHarness,
    place: str,
    *,
    cores: int = 1,
    length: int = 32768,
    constants: dict[str, float] | None = None,
) -> Launch:
    data, define = np.zeros(1 << 25, np.uint8), {"PLACE": place, "LENGTH": length}
    how = {"device": "910B1", "constants": constants, "define": define}
    return harness.ok(LOADS, [data], block_dim=cores, **how)


APART = "(get_block_idx() * 8 + i) * 65536"
TOGETHER = "i * 65536"


def test_one_core_reads_faster_from_the_cache_than_from_the_memory(harness: MachineHarness) -> None:
    cold = loads(harness, APART).cycles
    warm = loads(harness, APART, constants={"l2.warm": 1.0}).cycles
    assert 1.5 < cold / warm < 2.5


def test_cores_that_want_the_same_lines_of_the_memory_hold_each_other_up(
    harness: MachineHarness,
) -> None:
    few, many = (
        [loads(harness, TOGETHER, cores=n, constants=c).cycles for n in (1, 2, 6, 12, 48)]
        for c in ({}, {"l2.warm": 1.0})
    )
    assert few == sorted(few)
    assert few[2] > 1.2 * few[0]
    assert few[4] > 1.8 * few[3]
    # What is in L2 already is there for all.
    assert many[3] == pytest.approx(many[0], rel=0.01)


def test_a_line_that_another_core_has_asked_for_comes_no_sooner(harness: MachineHarness) -> None:
    none = {"l2.place_cycles": 1e-6}
    alone, two = (loads(harness, TOGETHER, cores=n, constants=none).cycles for n in (1, 2))
    assert two == pytest.approx(alone, rel=0.01)


def test_requests_for_a_window_are_served_in_turn_by_their_lines(harness: MachineHarness) -> None:
    rows = "copy_gm_to_ubuf(ub<u8>(0), a[0], 0, 64, LENGTH / 32, (2048 - LENGTH) / 32, 0);"
    data = [np.zeros(1 << 17, np.uint8)]
    line, window = (
        harness.ok(rows, data, define={"LENGTH": n}, device="910B1", block_dim=48).busy("MTE2")
        for n in (128, 512)
    )
    assert 2 < window / line < 4


@pytest.mark.parametrize("length", [2048, 32768])
def test_a_launch_is_never_faster_on_less_memory(harness: MachineHarness, length: int) -> None:
    rates = [{"hbm.bytes_per_second": rate} for rate in (2.4e12, 1.2e12, 0.4e12)]
    times = [loads(harness, APART, cores=48, length=length, constants=c).cycles for c in rates]
    assert times == sorted(times)
    assert times[2] > 1.3 * times[0]


COPY = """
    for (int i = 0; i < 16; i++) {
        const uint64_t place = (get_block_idx() * 16 + i) * 32768;
        if (i > 1) wait_flag(PIPE_MTE3, PIPE_MTE2, i % 2);
        BYPASS
        copy_gm_to_ubuf(ub<u8>(i % 2 * 65536), a[0] + place, 0, 1, 1024, 0, 0);
        order(PIPE_MTE2, PIPE_MTE3);
        copy_ubuf_to_gm(a[1] + place, ub<u8>(i % 2 * 65536), 0, 1, 1024, 0, 0);
        set_flag(PIPE_MTE3, PIPE_MTE2, i % 2);
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, 1);
"""


def copy(harness: MachineHarness, *, cores: int, bypass: bool = False) -> Launch:
    data = np.zeros(48 * 16 * 32768, np.uint8)
    how = {
        "device": "910B1",
        "define": {"BYPASS": "dav_bypass_l2();" if bypass else ""},
        # A load that waits at the memory is there before the store that it could meet.
        "constants": {"hbm.queue_cycles": 1e-3},
    }
    return harness.ok(COPY, [data], [data], block_dim=cores, **how)


def loads_begun_during_stores(done: Launch) -> int:
    """How many loads of core 0 begin while one of its stores still sends."""
    latency = load_device("910B1").number("mte3.latency")
    stores = [(s["start"], s["end"] - latency) for s in done.timeline if s["pipe"] == "MTE3"]
    begun = [s["start"] for s in done.timeline if s["pipe"] == "MTE2"]
    return sum(any(start <= load < end - 1 for start, end in stores) for load in begun)


@pytest.mark.long
def test_loads_queue_behind_stores_of_their_core_at_a_busy_memory_only(
    harness: MachineHarness,
) -> None:
    alone, crowded, past = (
        loads_begun_during_stores(done)
        for done in (
            copy(harness, cores=n, bypass=b) for n, b in ((1, False), (48, False), (48, True))
        )
    )
    assert crowded < 0.7 * min(alone, past), (alone, crowded, past)


def test_a_short_burst_into_l1_waits_for_the_line_of_the_burst_before(
    harness: MachineHarness,
) -> None:
    def read(gap: int) -> float:
        body = f"copy_gm_to_cbuf((__cbuf__ u8*)0, a[0], 0, 512, 1, {gap}, 0, PAD_NONE);"
        data = [np.zeros(1 << 20, np.uint8)]
        how = {"device": "910B1", "cores": (1, 0), "constants": {"l2.warm": 1.0}}
        return harness.run(body, data, **how).cycles

    close, apart = read(0), read(3)  # rows of 32 bytes: four in a line, and one
    device = load_device("910B1")
    # A row that begins within a line moves a whole window, 384 bytes more than a line.
    moved = 384 / device.number("mte2.l1_bytes_per_cycle")
    wanted = 384 * (device.number("mte2.l1_burst_same_line_cycles") + moved)
    assert close - apart == pytest.approx(wanted, rel=0.05)


def test_the_scalar_unit_waits_less_for_a_line_that_is_in_l2(harness: MachineHarness) -> None:
    # Lines of 64 bytes: each other lies in what L2 has fetched with the one before.
    body = "for (int i = 0; i < 16; i++) dav_scalar_load(a[0] + i * STEP, 4);"
    data = [np.zeros(1 << 16, np.uint8)]
    device = load_device("910B4")
    more = device.number("hbm.extra_ns") * device.clock_mhz / 1000
    apart, pairs, held = (
        harness.ok(body, data, define={"STEP": step}, constants={"l2.inputs": inputs}).cycles
        for step, inputs in ((128, 0.0), (64, 0.0), (128, 1.0))
    )
    assert apart - pairs == pytest.approx(8 * more, rel=0.01)
    assert apart - held == pytest.approx(16 * more, rel=0.01)


def test_each_core_takes_its_start_once(harness: MachineHarness) -> None:
    body = "dav_scalar(10000);"
    start = {"launch.start_up_cycles": 5000.0}
    plain = [harness.run(body, block_dim=n).cycles for n in (1, 120)]
    slow = [harness.run(body, block_dim=n, constants=start).cycles for n in (1, 120)]
    assert [b - a for a, b in zip(plain, slow, strict=True)] == pytest.approx([5000, 5000])


def test_the_start_grows_with_the_ai_cores_that_fetch_the_code(harness: MachineHarness) -> None:
    def start(blocks: int, cores: tuple[int, int], cube: str | None = None) -> float:
        how = {"block_dim": blocks, "device": "910B1", "cores": cores, "cube_body": cube}
        fetch = {"launch.fetch_cycles_per_core": 100.0}
        with_, without = (
            harness.run("dav_scalar(1000);", constants=one, **how).cycles for one in (fetch, {})
        )
        return with_ - without

    # Two vector cores are an AI core; more blocks than cores start no core anew.
    assert [start(n, (0, 1)) for n in (1, 2, 3, 48, 96)] == pytest.approx(
        [100, 100, 200, 2400, 2400]
    )
    assert start(24, (1, 0)) == pytest.approx(2400)
    assert start(10, (1, 2), cube="") == pytest.approx(2000)  # the code of both kinds of cores


@pytest.mark.long
def test_a_short_burst_past_l2_keeps_its_port_longer(harness: MachineHarness) -> None:
    def read(length: int, hint: str) -> float:
        lengths = f"{length} / 32, {2048 - length} / 32"
        body = f"{hint} copy_gm_to_ubuf(ub<u8>(0), a[0], 0, 64, {lengths}, 0);"
        # a memory that no burst has to wait for
        fast = {"l2.warm": 1.0, "hbm.extra_ns": 0.0, "gm.burst_cycles": 40.0}
        data = np.zeros(1 << 17, np.uint8)
        return harness.ok(body, [data], device="910B1", constants=fast).cycles

    longer = {n: read(n, "dav_bypass_l2();") - read(n, "") for n in (128, 160, 256)}
    assert longer == pytest.approx({128: 64 * 20, 160: 64 * 8, 256: 0}, abs=6)


def test_a_burst_into_l1_takes_longer_from_the_memory(harness: MachineHarness) -> None:
    body = "copy_gm_to_cbuf((__cbuf__ u8*)0, a[0], 0, 256, 4, 60, 0, PAD_NONE);"
    data = [np.zeros(1 << 20, np.uint8)]
    cycles = [
        harness.run(body, data, device="910B1", cores=(1, 0), constants={"l2.warm": warm}).cycles
        for warm in (0.0, 1.0)
    ]
    device = load_device("910B1")
    wanted = 256 * device.number("mte2.l1_burst_memory_cycles")
    wanted += device.number("hbm.extra_ns") * device.clock_mhz / 1000
    assert cycles[0] - cycles[1] == pytest.approx(wanted, rel=0.1)
