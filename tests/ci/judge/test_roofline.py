import pytest

from ci.judge.roofline import copies_us, floor, floor_of, ports_of, roofline
from ci.model.trial import CaseMeasurement, PipeTime
from rules.devices import load_device

DEVICE = load_device("910B4")


def case(busy: dict[str, float], moved: int = 0, block_dim: int = 40) -> CaseMeasurement:
    pipes = PipeTime(
        total_cycles=1000,
        block_dim=block_dim,
        busy_cycles=busy,
        gm_read_bytes=moved,
        bank_conflict_cycles=100.0,
    )
    return CaseMeasurement(
        case="a", samples_us=(1.0,), median_us=1.0, low_us=1.0, high_us=1.0, pipes=pipes
    )


def test_bandwidth_is_the_least_time_of_the_copies_over_the_time() -> None:
    reachable = DEVICE.number("hbm.bytes_per_second") * DEVICE.number("hbm.efficiency")
    found = roofline(case({}, moved=int(reachable / 1e6 / 2)), DEVICE)
    assert found.bandwidth == pytest.approx(0.5, rel=1e-3)
    assert found.bound == "bandwidth"
    assert "50% of what memory, L2 and ports can copy" in found.sentence()


def test_no_share_of_a_peak_is_above_one() -> None:
    found = roofline(case({}, moved=int(1e8)), DEVICE)  # in a microsecond: L2 answered it
    assert found.bandwidth == 1.0


def test_conflicts_and_idle_cores_are_no_achievement() -> None:
    full = roofline(case({"VECTOR": 600.0}), DEVICE)
    half = roofline(case({"VECTOR": 600.0}, block_dim=20), DEVICE)
    assert full.vector == pytest.approx(0.5)
    assert half.vector == pytest.approx(0.25)
    assert full.bound == "arithmetic"


def test_a_cube_kernel_is_measured_against_the_cube() -> None:
    found = roofline(case({"CUBE": 500.0}, block_dim=20), DEVICE)
    assert found.cube == pytest.approx(0.5)
    assert "chip's cube peak" in found.sentence()


def test_the_floor_is_the_launch_on_the_cores_that_pay_and_the_slower_of_copies_and_units() -> None:
    launch = DEVICE.number("launch.base_us")
    assert floor(DEVICE, 0, 0, 0, 0).us == pytest.approx(launch)
    peak = DEVICE.number("hbm.bytes_per_second") * DEVICE.number("hbm.efficiency")
    copies = floor(DEVICE, int(peak), 0, 0, 0).us
    assert 1e6 < copies < 1e6 + launch + 20 * DEVICE.number("launch.us_per_core")
    assert floor(DEVICE, int(peak), 0, 1e9, 0).us == copies  # units work beside the copies
    many = 1e12
    assert floor(DEVICE, 0, 0, many, 0).us > many / DEVICE.vector_cores / DEVICE.clock_mhz
    assert floor(DEVICE, 0, 0, 0, many).us > many / DEVICE.cube_cores / DEVICE.clock_mhz


def test_what_is_written_stays_in_l2_as_far_as_it_holds_it() -> None:
    l2, read = int(DEVICE.number("l2.bytes")), 80_000_000
    alone = floor(DEVICE, read, 0, 0, 0).us
    assert floor(DEVICE, read, l2, 0, 0).us == alone
    assert floor(DEVICE, read, l2 + read, 0, 0).us > 2.5 * alone, "written back at more than a read"


def test_what_is_written_takes_its_port_and_the_second_cache() -> None:
    megabytes = 33_600_000
    written = floor(DEVICE, 0, megabytes, 0, 0)
    assert written.copies_us >= megabytes / DEVICE.number("l2.bytes_per_second") * 1e6
    port = DEVICE.number("mte3.bytes_per_cycle") * DEVICE.clock_mhz
    few = copies_us(DEVICE, 0, megabytes, ports_of(DEVICE, True, False), 1)
    assert few == pytest.approx(megabytes / (2 * port))
    through_l0c = copies_us(DEVICE, 0, megabytes, ports_of(DEVICE, False, True), 1)
    assert through_l0c > few, "one port for the fixpipe, two of vector cores"


def test_a_core_reads_no_faster_than_it_can_ask() -> None:
    read = 1_000_000
    one = copies_us(DEVICE, read, 0, ports_of(DEVICE, True, False), 1)
    rate = read / one / DEVICE.clock_mhz / 2  # bytes a cycle of a vector core
    assert 60 < rate < 80 < DEVICE.number("mte2.bytes_per_cycle")


def test_what_is_read_again_is_no_part_of_the_floor() -> None:
    again = case({}, moved=400_000_000)
    once = again.model_copy(
        update={"pipes": again.pipes.model_copy(update={"first_read_bytes": 4_000_000})}
    )
    assert floor_of(once, DEVICE).us < floor_of(again, DEVICE).us / 20
    assert floor_of(once, DEVICE) == floor_of(case({}, moved=4_000_000), DEVICE)


def test_a_case_says_how_far_above_its_floor_it_is() -> None:
    assert "µs above the floor of 0.44 µs" in roofline(case({}), DEVICE).sentence()
