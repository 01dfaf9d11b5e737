import pytest

from ci.judge.roofline import roofline
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


def test_bandwidth_is_bytes_a_second_over_the_memorys_peak() -> None:
    peak = DEVICE.number("hbm.bytes_per_second")
    found = roofline(case({}, moved=int(peak / 1e6 / 2)), DEVICE)
    assert found.bandwidth == pytest.approx(0.5)
    assert found.bound == "bandwidth"
    assert "50% of the memory's peak" in found.sentence()


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
