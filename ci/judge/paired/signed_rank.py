"""The one-sample signed-rank test of F. Wilcoxon (Biometrics 1 (1945) 80), and its intervals.

The values are the logarithms of the pairs' ratios. Which of a pair is sampled first is drawn by a
fair coin, so that for equal programs every sign is a fair coin too, whatever the noise: heavy
tails, drift and two clocks included (R. A. Fisher, The Design of Experiments, 1935, ch. III). The
test is exact then; ties make it stricter, never laxer.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def least_p(pairs: int) -> float:
    """The smallest one-sided p that so many pairs can attain: all of one sign."""
    return 0.5**pairs


@lru_cache(maxsize=256)
def _lower_tail(pairs: int) -> Floats:
    """P(W <= w) for w = 0, 1, …, where W is the sum of the ranks of positive values."""
    counts = np.ones(1)
    for rank in range(1, pairs + 1):
        more = np.zeros(len(counts) + rank)
        more[: len(counts)] += counts
        more[rank:] += counts
        counts = more / 2
    return np.cumsum(counts)


def trimmed(pairs: int, level: float) -> int:
    """How many Walsh averages lie outside a one-sided bound of this level at one end, at most.

    -1 when the level is not attainable with so many pairs.
    """
    return int(np.searchsorted(_lower_tail(pairs), level, side="right")) - 1


def walsh(values: Floats) -> Floats:
    """The averages of all pairs of values and of each with itself, sorted; along the last axis."""
    first, second = np.triu_indices(values.shape[-1])
    averages = (values[..., first] + values[..., second]) / 2
    averages.sort(axis=-1)
    return averages


def estimate(averages: Floats) -> Floats:
    """The Hodges-Lehmann estimate of the middle: the median of the Walsh averages."""
    return np.asarray(np.median(averages, axis=-1))


def lower_bound(averages: Floats, pairs: int, level: float) -> Floats:
    """The middle is at most this only with probability `level`; -inf where not attainable.

    The set of middles that the one-sided test does not reject (J. Hodges and E. Lehmann, Annals of
    Mathematical Statistics 34 (1963) 598).
    """
    outside = trimmed(pairs, level)
    if outside < 0:
        return np.full(averages.shape[:-1], -np.inf)
    return np.asarray(averages[..., outside])


def upper_bound(averages: Floats, pairs: int, level: float) -> Floats:
    """The middle is at least this only with probability `level`; inf where not attainable."""
    outside = trimmed(pairs, level)
    if outside < 0:
        return np.full(averages.shape[:-1], np.inf)
    return np.asarray(averages[..., averages.shape[-1] - 1 - outside])
