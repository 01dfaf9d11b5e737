"""Verdicts follow from intervals, and a geometric mean hides no regression."""

import numpy as np
import pytest

from ci.judge.measure import interval, roofline_us
from ci.model.comparison import MINIMUM_EFFECT, SIMULATED_FLOOR, compare, noise_floor
from ci.model.trial import CaseMeasurement, Fingerprint, Measurement, PipeTime

SIM = Fingerprint(backend="sim", device="910B4", version="1", simulated=True)
NPU = Fingerprint(backend="cann", device="910B4", version="8.2", simulated=False)


def measured(*cases: list[float], on: Fingerprint = SIM) -> Measurement:
    rows = []
    for number, samples in enumerate(cases):
        found = interval(samples)
        rows.append(
            CaseMeasurement(
                case=f"case{number}",
                samples_us=tuple(samples),
                median_us=found.median,
                low_us=found.low,
                high_us=found.high,
                pipes=PipeTime(total_cycles=1, block_dim=1, busy_cycles={}),
            )
        )
    return Measurement(fingerprint=on, cases=tuple(rows))


def noisy(median: float, spread: float, count: int = 30, seed: int = 1) -> list[float]:
    return list(median * (1 + spread * np.random.default_rng(seed).standard_normal(count)))


def test_one_sample_has_an_interval_of_width_zero() -> None:
    found = interval([3.5])
    assert (found.median, found.low, found.high) == (3.5, 3.5, 3.5)


def test_the_interval_holds_the_median_and_narrows_with_samples() -> None:
    few, many = interval(noisy(10, 0.1, 8)), interval(noisy(10, 0.1, 800))
    assert few.low <= few.median <= few.high
    assert many.high - many.low < few.high - few.low


@pytest.mark.parametrize("samples", [[], [0.0], [-1.0], [float("nan")]])
def test_impossible_times_are_refused(samples: list[float]) -> None:
    with pytest.raises(ValueError, match="positive"):
        interval(samples)


def test_a_simulated_gain_is_exact() -> None:
    found = compare(measured([10.0], [20.0]), measured([5.0], [10.0]))
    assert found.verdict == "improved"
    assert found.speedup == found.low == found.high == pytest.approx(2.0)


def test_a_case_counts_as_much_as_its_weight() -> None:
    def weighed(*medians: float) -> Measurement:
        made = measured(*([m] for m in medians))
        rows = [c.model_copy(update={"weight": w}) for c, w in zip(made.cases, (3, 1), strict=True)]
        return made.model_copy(update={"cases": tuple(rows)})

    assert weighed(16.0, 1.0).score_us == pytest.approx(8.0)
    assert compare(weighed(16.0, 4.0), weighed(1.0, 4.0)).speedup == pytest.approx(8.0)


def test_a_gain_below_the_minimum_effect_is_no_gain() -> None:
    assert compare(measured([10.0]), measured([10.0 / (1 + MINIMUM_EFFECT / 2)])).verdict == "same"


def test_one_slower_case_spoils_a_good_mean() -> None:
    found = compare(measured([10.0], [10.0]), measured([2.0], [11.0]))
    assert found.verdict == "worse"
    assert "case1" in found.reason


def test_a_case_slower_within_the_noise_floor_does_not() -> None:
    within = 10.0 * (1 + SIMULATED_FLOOR / 2)
    assert compare(measured([10.0], [10.0]), measured([5.0], [within])).verdict == "improved"


def test_equal_times_are_the_same_and_slower_is_worse() -> None:
    assert compare(measured([10.0]), measured([10.0])).verdict == "same"
    assert compare(measured([10.0]), measured([12.0])).verdict == "worse"


def test_scattered_samples_leave_it_unknown() -> None:
    slow, fast = noisy(10, 0.3, 6, seed=1), noisy(9.5, 0.3, 6, seed=2)
    assert compare(measured(slow, on=NPU), measured(fast, on=NPU)).verdict == "unknown"


def test_many_samples_decide() -> None:
    slow, fast = noisy(10, 0.02, 200, seed=1), noisy(8, 0.02, 200, seed=2)
    assert compare(measured(slow, on=NPU), measured(fast, on=NPU)).verdict == "improved"


def test_the_noise_floor_of_hardware_follows_its_samples() -> None:
    calm, wild = measured(noisy(10, 0.001), on=NPU), measured(noisy(10, 0.25), on=NPU)
    assert noise_floor(wild, wild.cases[0]) > noise_floor(calm, calm.cases[0]) > 0


def test_different_devices_are_not_compared() -> None:
    with pytest.raises(ValueError, match="different devices"):
        compare(measured([1.0], on=SIM), measured([1.0], on=NPU))


@pytest.mark.parametrize(("read", "written"), [(1 << 30, 0), (0, 1 << 30), (1 << 30, 1 << 30)])
def test_bytes_take_a_known_device_time(read: int, written: int) -> None:
    # No chip of the family moves a GiB through its L2 in less than a tenth of a millisecond.
    assert 100 < roofline_us("910B4", read, written) < 10_000


def test_nothing_is_said_of_a_device_that_nobody_knows() -> None:
    assert roofline_us("another", 1 << 30, 1 << 30) == 0
