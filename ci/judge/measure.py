"""Statistics of times: median with its interval, noise floor, and which of two is faster.

The simulator is deterministic: one sample, an interval of width zero. A real NPU gives many
samples that scatter; nothing is claimed there that the intervals do not carry.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from typing import Literal, TypeAlias

import numpy as np
from scipy import stats

from ci.model.frozen import Frozen
from ci.model.trial import CaseMeasurement, Measurement
from rules.devices import device_names, load_device

Verdict: TypeAlias = Literal["improved", "worse", "same", "unknown"]

CONFIDENCE = 0.95
"""Level of the interval of a median."""

RESAMPLES = 2000
"""Bootstrap resamples; the interval's ends move by less than 1 % of its width beyond this."""

MINIMUM_EFFECT = 0.01
"""A candidate must be faster by 1 % overall: less is not worth a reviewer's time."""

SIMULATED_FLOOR = 0.005
"""Relative difference of one case that simulated time cannot tell apart.

The simulator repeats to the cycle, but its constants do not carry differences of a few cycles;
half a percent is ten cycles of the 1.2 µs that the shortest real launches take.
"""

HARDWARE_FLOOR = 0.02
"""The least noise floor on a real NPU, whatever the samples at hand say."""


class Interval(Frozen):
    """A median in µs with its confidence interval."""

    median: float
    low: float
    high: float


class Comparison(Frozen):
    """Baseline against candidate over a workload."""

    verdict: Verdict
    speedup: float
    """Geometric mean over cases of baseline / candidate medians."""
    low: float
    high: float
    """What the speedup's interval is."""
    reason: str
    """One sentence with the deciding figure."""


def interval(samples: Sequence[float]) -> Interval:
    """Median with a bootstrap interval; of width zero when all samples are equal."""
    values = np.asarray(samples, dtype=np.float64)
    if values.size == 0 or not np.isfinite(values).all() or (values <= 0).any():
        raise ValueError(f"times must be positive numbers, got {list(samples)!r}")
    median = float(np.median(values))
    if np.ptp(values) == 0:
        return Interval(median=median, low=median, high=median)
    drawn = stats.bootstrap(
        (values,),
        np.median,
        confidence_level=CONFIDENCE,
        n_resamples=RESAMPLES,
        method="percentile",
        random_state=np.random.default_rng(0),
    )
    ends = drawn.confidence_interval
    return Interval(median=median, low=float(ends.low), high=float(ends.high))


def noise_floor(baseline: Measurement, case: CaseMeasurement) -> float:
    """Relative difference below which nothing is claimed for this case of the baseline."""
    if baseline.fingerprint.simulated:
        return SIMULATED_FLOOR
    half_width = (case.high_us - case.low_us) / 2 / case.median_us
    return max(HARDWARE_FLOOR, half_width)


def compare(
    baseline: Measurement, candidate: Measurement, minimum_effect: float = MINIMUM_EFFECT
) -> Comparison:
    """Say whether the candidate is faster, and by how much.

    `improved` needs the whole interval of the mean speedup above 1 + minimum_effect and no case
    slower by more than its noise floor. A case that is surely slower than that makes it `worse`
    whatever the mean says; one that may be makes it `unknown`: measure more.
    Raises ValueError when the two measured different cases or on different devices.
    """
    if baseline.fingerprint != candidate.fingerprint:
        raise ValueError("times of different devices or versions cannot be compared")
    pairs = list(zip(baseline.cases, candidate.cases, strict=True))
    if any(b.case != c.case for b, c in pairs):
        raise ValueError("times of different cases cannot be compared")
    speedup = _mean([b.median_us / c.median_us for b, c in pairs])
    low = _mean([b.low_us / c.high_us for b, c in pairs])
    high = _mean([b.high_us / c.low_us for b, c in pairs])

    def answer(verdict: Verdict, reason: str) -> Comparison:
        return Comparison(verdict=verdict, speedup=speedup, low=low, high=high, reason=reason)

    doubtful = ""
    for b, c in pairs:
        limit = 1 + noise_floor(baseline, b)
        if c.low_us / b.high_us > limit:
            slower = c.median_us / b.median_us - 1
            return answer("worse", f"case {c.case} became {slower:.1%} slower")
        if c.median_us / b.median_us > limit:
            doubtful = f"case {c.case} may have become slower; its samples do not decide"
    if low > 1 + minimum_effect:
        if doubtful:
            return answer("unknown", doubtful)
        return answer("improved", f"faster by a factor of {speedup:.3f} ({low:.3f} to {high:.3f})")
    if high < 1 / (1 + minimum_effect):
        return answer("worse", f"slower overall by a factor of {1 / speedup:.3f}")
    if low >= 1 / (1 + minimum_effect) and high <= 1 + minimum_effect:
        return answer("same", f"no difference beyond {minimum_effect:.0%}")
    return answer("unknown", f"the speedup lies between {low:.3f} and {high:.3f}: measure more")


def _mean(ratios: Sequence[float]) -> float:
    return exp(sum(log(r) for r in ratios) / len(ratios))


def roofline_us(device: str, read_bytes: int, write_bytes: int) -> float:
    """The least time in µs in which a device can move this many bytes to and from GM.

    A true lower bound, generous on purpose: everything comes from and goes to L2 at its peak
    rate, both ways at once, and the launch costs nothing. 0 for a device that we know nothing of.
    """
    if device not in device_names():
        return 0.0
    bytes_per_us = load_device(device).number("l2.bytes_per_second") / 1e6
    return max(read_bytes, write_bytes) / bytes_per_us
