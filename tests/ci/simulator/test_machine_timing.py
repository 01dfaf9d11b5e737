"""The machine's clock: each figure must move the way published measurements say."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ci.simulator.machine_harness import Launch, MachineHarness

ADD = """
    const int tile = TILE, buffers = BUFFERS;
    const int count = TOTAL / get_block_num(), tiles = count / tile;
    half* x = (half*)a[0] + get_block_idx() * count;
    half* y = (half*)a[1] + get_block_idx() * count;
    half* z = (half*)a[2] + get_block_idx() * count;
    set_vector_mask(~0ull, ~0ull);
    for (int i = 0; i < buffers; i++) {
        set_flag(PIPE_V, PIPE_MTE2, i); set_flag(PIPE_MTE3, PIPE_V, i);
    }
    for (int t = 0; t < tiles; t++) {
        const int b = t % buffers;
        const uint32_t base = b * (tile * 6 + GAP + FAR);
        wait_flag(PIPE_V, PIPE_MTE2, b);
        copy_gm_to_ubuf(ub<half>(base), x + t * tile, 0, 1, tile / 16, 0, 0);
        copy_gm_to_ubuf(ub<half>(base + tile * 2 + GAP), y + t * tile, 0, 1, tile / 16, 0, 0);
        set_flag(PIPE_MTE2, PIPE_V, b);
        wait_flag(PIPE_MTE2, PIPE_V, b); wait_flag(PIPE_MTE3, PIPE_V, b);
        vadd(ub<half>(base + tile * 4 + FAR), ub<half>(base), ub<half>(base + tile * 2 + GAP),
             tile / 128, 1, 1, 1, 8, 8, 8);
        set_flag(PIPE_V, PIPE_MTE2, b); set_flag(PIPE_V, PIPE_MTE3, b);
        wait_flag(PIPE_V, PIPE_MTE3, b);
        copy_ubuf_to_gm(z + t * tile, ub<half>(base + tile * 4 + FAR), 0, 1, tile / 16, 0, 0);
        set_flag(PIPE_MTE3, PIPE_V, b);
    }
    for (int i = 0; i < buffers; i++) {
        wait_flag(PIPE_V, PIPE_MTE2, i); wait_flag(PIPE_MTE3, PIPE_V, i);
    }
"""


def add(
    harness: MachineHarness,
    *,
    total: int = 1 << 18,
    tile: int = 4096,
    buffers: int = 1,
    cores: int = 1,
    device: str = "910B4",
    gap: int = 0,
    far: int = 0,
    constants: dict[str, float] | None = None,
) -> Launch:
    define = {"TOTAL": total, "TILE": tile, "BUFFERS": buffers, "GAP": gap, "FAR": far}
    x = np.random.default_rng(0).standard_normal(total).astype(np.float16)
    y = x[::-1].copy()
    how = {"device": device, "constants": constants, "define": define}
    return harness.equals(ADD, [x, y], [x + y], block_dim=cores, **how)


WARM = {"l2.warm": 1.0}
"""What an equal launch before left in L2 is still there."""


def overlapping(done: Launch) -> bool:
    """Whether a vector instruction runs during a load."""
    spans = [(s["start"], s["end"]) for s in done.timeline if s["pipe"] == "VECTOR"]
    copies = [(s["start"], s["end"]) for s in done.timeline if s["pipe"] == "MTE2"]
    return any(a < d and c < b for a, b in spans for c, d in copies)


def test_only_double_buffering_overlaps_loads_with_the_rest(harness: MachineHarness) -> None:
    single, double = add(harness), add(harness, buffers=2)
    assert double.cycles < 0.75 * single.cycles
    assert overlapping(double) and not overlapping(single)


def test_larger_tiles_take_less_time(harness: MachineHarness) -> None:
    times = [add(harness, tile=tile).cycles for tile in (256, 1024, 4096, 16384)]
    assert times == sorted(times, reverse=True)
    assert times[0] > 5 * times[-1]


def test_more_cores_help_until_the_memory_is_busy(harness: MachineHarness) -> None:
    one, eight, forty = (
        add(harness, total=40 * 4096 * 8, buffers=2, cores=n, constants=WARM).cycles
        for n in (1, 8, 40)
    )
    assert 6.5 < one / eight < 8.1
    assert 2.5 < eight / forty < 5.1  # L2 gives 40 cores a little less than their ports take


def test_launch_overhead_grows_with_the_cores(harness: MachineHarness) -> None:
    runs = [add(harness, total=40 * 4096, cores=cores) for cores in (1, 8, 40)]
    gaps = [done.report["total_cycles"] - done.cycles for done in runs]
    assert gaps == sorted(gaps) and gaps[0] > 0


def test_add_on_one_core_of_910b1_matches_the_published_time(harness: MachineHarness) -> None:
    # add_high_performance case1: 6909 µs for 16,384 tiles at 1850 MHz; vector 761.65 µs, loads
    # 6208.76, stores 2613.2.
    # The published tensors are 256 times as large and do not fit into L2.
    small = {"l2.bytes": 192 * 2.0**20 / 256}
    done = add(harness, total=64 * 4096, device="910B1", constants=small)
    assert done.cycles / 64 == pytest.approx(6909.14 * 1850 / 16384, rel=0.1)
    assert done.busy("VECTOR") / 64 == pytest.approx(761.65 * 1850 / 16384, rel=0.02)
    assert done.busy("MTE2") / 64 == pytest.approx(6208.76 * 1850 / 16384, rel=0.08)
    assert done.busy("MTE3") / 64 == pytest.approx(2613.2 * 1850 / 16384, rel=0.08)


@pytest.mark.parametrize(
    ("tile", "buffers", "published_us"), [(16384, 1, 261.5), (16384, 2, 257.56)]
)
def test_add_on_48_cores_of_910b1_matches_the_published_time(
    harness: MachineHarness, tile: int, buffers: int, published_us: float
) -> None:
    # add_high_performance case3 and case4 move 402 MB through 192 MiB of L2; a sixteenth of both
    # keeps the test short. Double buffering gains little where the memory is the limit.
    total = 48 * 16384 * 5
    small = {"l2.bytes": 192 * 2**20 * total / 2**26, "l2.write_back_bytes": 2.0**19}
    done = add(
        harness, total=total, tile=tile, buffers=buffers, cores=48, device="910B1", constants=small
    )
    assert done.cycles / 1850 == pytest.approx(published_us * total / 2**26, rel=0.1)


def test_data_past_the_cache_is_bound_by_the_memory(harness: MachineHarness) -> None:
    total = 40 * 4096 * 8
    cached = add(harness, total=total, buffers=2, cores=40, constants=WARM)
    small = WARM | {"l2.bytes": 1e6}
    streamed = add(harness, total=total, buffers=2, cores=40, constants=small)
    assert cached.report["hbm_bytes"] == 0
    assert streamed.report["hbm_bytes"] >= 4 * total
    assert streamed.cycles > 2 * cached.cycles


@pytest.mark.long
def test_sources_past_the_cache_leave_it_to_the_results(harness: MachineHarness) -> None:
    body = """
    for (int i = 0; i < 32; i++) {
        const uint64_t place = (get_block_idx() * 32 + i) * 32768;
        BYPASS
        copy_gm_to_ubuf(ub<u8>(0), a[0] + place, 0, 1, 1024, 0, 0);
        pipe_barrier(PIPE_ALL);
        copy_ubuf_to_gm(a[1] + place, ub<u8>(0), 0, 1, 1024, 0, 0);
        pipe_barrier(PIPE_ALL);
    }
"""
    data = np.zeros(40 * 32 * 32768, np.uint8)
    small = {"l2.bytes": float(data.size), "l2.write_back_bytes": 1e5}
    how = {"block_dim": 40, "constants": small}
    through, past = (
        harness.ok(body, [data], [data], define={"BYPASS": call}, **how)
        for call in ("", "dav_bypass_l2();")
    )
    assert past.report["hbm_bytes"] < 1.01 * data.size
    assert through.report["hbm_bytes"] > 1.3 * data.size
    assert past.cycles < 0.9 * through.cycles


def test_an_address_past_l2_is_the_same_place_and_is_reached_past_it(
    harness: MachineHarness,
) -> None:
    body = """
    BYPASS copy_gm_to_ubuf(ub<u8>(0), a[0] + ADDED, 0, 1, 1024, 0, 0);
    pipe_barrier(PIPE_ALL);
    BYPASS copy_ubuf_to_gm(a[1] + ADDED, ub<u8>(0), 0, 1, 1024, 0, 0);
"""
    data = np.arange(32768, dtype=np.uint32).astype(np.uint8)
    through, past, told = (
        harness.ok(body, [data], [0 * data], define={"BYPASS": b, "ADDED": a}, constants=WARM)
        for b, a in (("", "0"), ("", "(1ull << 56)"), ("dav_bypass_l2();", "0"))
    )
    assert np.array_equal(past.outputs[0], data)
    assert past.cycles == pytest.approx(told.cycles, rel=0.001)
    assert told.cycles > 1.1 * through.cycles


@pytest.mark.parametrize("how", ["", "dav_bypass_l2();"])
def test_first_touches_are_counted_once_however_often_a_kernel_comes_back(
    harness: MachineHarness, how: str
) -> None:
    # Four times the same 64 KiB; 32 KiB of the result are written twice and read back.
    body = """
    for (int i = 0; i < 4; i++) {
        BYPASS copy_gm_to_ubuf(ub<u8>(0), a[0], 0, 1, 2048, 0, 0);
        pipe_barrier(PIPE_ALL);
    }
    for (int i = 0; i < 2; i++) {
        BYPASS copy_ubuf_to_gm(a[1], ub<u8>(0), 0, 1, 1024, 0, 0);
        pipe_barrier(PIPE_ALL);
        copy_gm_to_ubuf(ub<u8>(65536), a[1], 0, 1, 1024, 0, 0);
        pipe_barrier(PIPE_ALL);
    }
"""
    tensors = [np.zeros(65536, np.uint8)], [np.zeros(32768, np.uint8)]
    cold = harness.ok(body, *tensors, define={"BYPASS": how})
    assert cold.report["gm_read_bytes"] == 4 * 65536 + 2 * 32768
    assert cold.report["first_read_bytes"] == 65536
    assert cold.report["first_written_bytes"] == 32768
    warm = harness.ok(body, *tensors, define={"BYPASS": how}, constants=WARM)
    assert warm.report["first_read_bytes"] == (65536 if how else 0)


def test_shifted_source_and_result_in_another_bank_do_not_conflict(harness: MachineHarness) -> None:
    plain = add(harness)
    shifted = add(harness, gap=256, far=0xC000)
    assert plain.report["bank_conflict_cycles"] > 0
    assert shifted.report["bank_conflict_cycles"] == 0
    assert shifted.busy("VECTOR") < plain.busy("VECTOR")


VECTOR_ADDS = """
    set_vector_mask(0, ~0ull);
    vector_dup(ub<float>(0), 1.0f, 255, 1, 1, 8, 8);
    vector_dup(ub<float>(0x10000), 1.0f, 255, 1, 1, 8, 8);
    pipe_barrier(PIPE_ALL);
    for (int i = 0; i < 100; i++)
        vadd(ub<float>(DST), ub<float>(SRC0), ub<float>(SRC1), 64, 1, BLOCK, 1, 8, REPEAT, 8);
"""


@pytest.mark.parametrize(
    ("places", "cycles"),
    [
        # Published for 910B1 (bank_conflict_ub s1 to s8): ticks of 50 MHz for 1000 instructions.
        ((0, 0x10100, 0x20000, 1, 8), 2390),
        ((0, 0x4000, 0x10000, 1, 8), 4167),
        ((0, 0x10000, 0x14100, 1, 8), 4167),
        ((0, 0x10100, 0x4000, 1, 8), 2389),
        ((0, 0x10100, 0x4020, 1, 8), 3751),
        ((0, 0x10100, 0x10100, 1, 8), 2390),
        ((0, 0x10100, 0x10100, 0, 1), 3584),
        ((0, 0x10100, 0x10100, 0, 8), 2389),
    ],
)
def test_bank_conflicts_cost_what_was_measured(
    harness: MachineHarness, places: tuple[int, ...], cycles: int
) -> None:
    define = dict(zip(("SRC0", "SRC1", "DST", "BLOCK", "REPEAT"), places, strict=True))
    # The loop rewrites one destination, so each instruction waits for the one before.
    done = harness.ok(VECTOR_ADDS, device="910B1", auto_sync=True, define=define)
    spans = [s for s in done.timeline if s["name"] == "vadd"]
    measured = (spans[-1]["end"] - spans[0]["start"]) / 100
    assert measured == pytest.approx(cycles * 1850 / 50 / 1000, rel=0.12)


def test_independent_instructions_pipeline_and_dependent_ones_do_not(
    harness: MachineHarness,
) -> None:
    text = """
    set_vector_mask(0, ~0ull);
    vector_dup(ub<float>(0), 1.0f, 128, 1, 1, 8, 8);
    pipe_barrier(PIPE_ALL);
    for (int i = 0; i < 32; i++) {
        vadds(ub<float>(TARGET), ub<float>(SOURCE), 1.0f, 1, 1, 1, 8, 8);
        BARRIER
    }
"""
    free = {"TARGET": "0x8000 + i * 256", "SOURCE": "i * 256", "BARRIER": ""}
    chain = {"TARGET": "0x100 * (i + 1)", "SOURCE": "0x100 * i", "BARRIER": "pipe_barrier(PIPE_V);"}
    independent, dependent = (harness.ok(text, define=d).busy("VECTOR") for d in (free, chain))
    assert dependent - independent > 31 * 15


def test_small_copies_back_to_back_pipeline_their_latency(harness: MachineHarness) -> None:
    copies = (
        "for (int i = 0; i < 8192; i += 128) copy_gm_to_ubuf(ub<u8>(i), a[0] + i, 0, 1, 4, 0, 0);"
    )
    done = harness.run(copies, [np.zeros(8192, np.uint8)])
    # data_copy_ub s1: one copy in about 20.6 cycles.
    assert (done.busy("MTE2") - 460) / 64 == pytest.approx(20.6, rel=0.1)


def test_one_copy_with_many_bursts_beats_many_copies(harness: MachineHarness) -> None:
    many = """
    for (int i = 0; i < 64; i++) copy_gm_to_ubuf(ub<u8>(i * 128), a[0] + i * 512, 0, 1, 4, 0, 0);
"""
    one = "copy_gm_to_ubuf(ub<u8>(0), a[0], 0, 64, 4, 12, 0);"
    data = np.zeros(64 * 512, np.uint8)
    assert harness.run(one, [data]).cycles < 0.7 * harness.run(many, [data]).cycles


def test_copies_off_a_512_byte_boundary_are_slower(harness: MachineHarness) -> None:
    body = """
    for (int i = 0; i < 4; i++) {
        u8* from = a[0] + (get_block_idx() * 4 + i) * (1 << 17) + OFFSET;
        copy_gm_to_ubuf(ub<u8>(0), from, 0, ROWS, LENGTH, LENGTH, 0);
        pipe_barrier(PIPE_ALL);
    }
"""
    data = np.zeros((40 * 4 << 17) + 512, np.uint8)

    def slowdown(rows: int, length: int) -> float:
        define = {"ROWS": rows, "LENGTH": length}
        off, aligned = (
            harness.run(body, [data], block_dim=40, define=define | {"OFFSET": offset}).cycles
            for offset in (32, 0)
        )
        return off / aligned

    # A row that starts off a window touches one more: of 512 bytes two, of 4096 nine for eight.
    assert slowdown(128, 16) > 1.3 > 1.2 > slowdown(16, 128) > 1.02


def test_data_that_was_just_read_comes_faster_from_the_cache(harness: MachineHarness) -> None:
    body = """
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 16; i++)
            copy_gm_to_ubuf(ub<u8>(0), a[0] + (get_block_idx() * 16 + PLACE) * 32768,
                            0, 1, 1024, 0, 0);
"""
    data = np.zeros(40 * 2 * 16 * 32768, np.uint8)
    how = {"block_dim": 40, "constants": {"l2.warm": 0.0}}
    twice, fresh = (
        harness.ok(body, [data], define={"PLACE": place}, **how)
        for place in ("i", "i + pass * 640")
    )
    assert twice.report["hbm_bytes"] == fresh.report["hbm_bytes"] // 2
    assert twice.cycles < 0.75 * fresh.cycles


def test_same_launch_gives_the_same_report_to_the_byte(harness: MachineHarness) -> None:
    first, second = (add(harness, cores=8, buffers=2) for _ in range(2))
    for done in (first, second):
        done.report.pop("host_seconds")
    assert first.report == second.report
    assert first.timeline == second.timeline


def test_scalar_loop_costs_what_was_measured(harness: MachineHarness) -> None:
    # add_high_performance case0: 34 cycles for two loads, an addition and a store on half.
    body = """
    pipe_barrier(PIPE_ALL);
    for (int i = 0; i < 4096; i++) {
        dav_scalar_load(ub<half>(2 * i), 2); half x = *ub<half>(2 * i);
        dav_scalar_load(ub<half>(2 * i), 2); half y = *ub<half>(2 * i);
        dav_scalar_store(ub<half>(0x4000 + 2 * i), 2); *ub<half>(0x4000 + 2 * i) = x + y;
    }
"""
    done = harness.run(body)
    assert done.busy("SCALAR") / 4096 == pytest.approx(34, rel=0.2)
