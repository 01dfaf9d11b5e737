"""Statistics of times: median with its interval, noise floor, and which of two is faster.

The simulator is deterministic: one sample, an interval of width zero. A real NPU gives many
samples that scatter; nothing is claimed there that the intervals do not carry.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ci.model.frozen import Frozen
from rules.devices import device_names, load_device

CONFIDENCE = 0.95
"""Level of the interval of a median."""

RESAMPLES = 2000
"""Bootstrap resamples; the interval's ends move by less than 1 % of its width beyond this."""


class Interval(Frozen):
    """A median in µs with its confidence interval."""

    median: float
    low: float
    high: float


def interval(samples: Sequence[float]) -> Interval:
    """Median with a bootstrap interval; of width zero when all samples are equal."""
    if len(samples) == 0 or not all(0 < sample < math.inf for sample in samples):
        raise ValueError(f"times must be positive numbers, got {list(samples)!r}")
    first = float(samples[0])
    if all(sample == first for sample in samples):
        return Interval(median=first, low=first, high=first)
    values = np.asarray(samples, dtype=np.float64)
    median = float(np.median(values))
    # Loading it takes most of a second, and most runs do without.
    from scipy import stats

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


def roofline_us(device: str, read_bytes: int, write_bytes: int) -> float:
    """The least time in µs in which a device can move this many bytes to and from GM.

    A true lower bound, generous on purpose: everything comes from and goes to L2 at its peak
    rate, both ways at once, and the launch costs nothing. 0 for a device that we know nothing of.
    """
    bytes_per_us = _most_bytes_per_us(device)
    return max(read_bytes, write_bytes) / bytes_per_us


@lru_cache(maxsize=16)
def _most_bytes_per_us(device: str) -> float:
    if device not in device_names():
        return math.inf
    return load_device(device).number("l2.bytes_per_second") / 1e6
