"""Which of two measurements is faster, and by how much: what searching and reporting both ask.

The simulator is deterministic: one sample, an interval of width zero. A real NPU gives samples
that scatter: every candidate is held there against the baseline in pairs taken in turn, and two
candidates by what each was against the baseline. Nothing is claimed that the intervals do not
carry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from ci.model.frozen import Frozen
from ci.model.paired import Paired
from ci.model.trial import CaseMeasurement, Measurement, weighted_mean

Verdict: TypeAlias = Literal["improved", "worse", "same", "unknown"]

MINIMUM_EFFECT = 0.01
"""A candidate must be faster by 1 % overall: less is not worth a reviewer's time."""

SLOWER = 0.10
"""Share of its time that a candidate may lose on shapes and values outside its workload.

Nobody asked for those; more than a tenth would be a regression for others.
"""

STEP_EFFECT = 0.01
"""A candidate becomes the parent of the next when faster by 1 %.

A reviewer reads every edit of the patch: one that is worth less than this is not worth reading.
"""

SIMULATED_FLOOR = 0.005
"""Relative difference of one case that simulated time cannot tell apart.

The simulator repeats to the cycle, but its constants do not carry differences of a few cycles;
half a percent is ten cycles of the 1.2 µs that the shortest real launches take.
"""

HARDWARE_FLOOR = 0.02
"""The least noise floor on a real NPU, whatever the samples at hand say."""


class _Ratio(NamedTuple):
    """How many times as fast one is as the other, with its interval."""

    middle: float
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


def noise_floor(baseline: Measurement, case: CaseMeasurement) -> float:
    """Relative difference below which nothing is claimed for this case of the baseline."""
    if baseline.fingerprint.simulated:
        return SIMULATED_FLOOR
    if case.paired is not None:
        return case.paired.floor
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
    ratios = [_ratio(b, c) for b, c in pairs]
    speedup, low, high = _mean(baseline, candidate, ratios)
    floors = [x.paired.floor for x in (baseline, candidate) if x.paired]
    minimum_effect = max(minimum_effect, *floors) if floors else minimum_effect

    def answer(verdict: Verdict, reason: str) -> Comparison:
        if candidate.paired is not None:
            reason += f"; {candidate.paired.counted}"
        return Comparison(verdict=verdict, speedup=speedup, low=low, high=high, reason=reason)

    doubtful = ""
    for (b, c), ratio in zip(pairs, ratios, strict=True):
        limit = 1 + max(noise_floor(baseline, b), noise_floor(baseline, c) if c.paired else 0.0)
        if ratio.high < 1 / limit:
            slower = 1 / ratio.middle - 1
            return answer("worse", f"case {c.case} became {slower:.1%} slower")
        if ratio.middle < 1 / limit:
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


def _ratio(b: CaseMeasurement, c: CaseMeasurement) -> _Ratio:
    if b.paired or c.paired:
        return _over(b.paired, c.paired)
    return _Ratio(b.median_us / c.median_us, b.low_us / c.high_us, b.high_us / c.low_us)


def _over(before: Paired | None, after: Paired | None) -> _Ratio:
    """Return the ratio of two measured against one baseline; None is the baseline itself."""
    base = before or _ITSELF
    own = after or _ITSELF
    return _Ratio(own.ratio / base.ratio, own.low / base.high, own.high / max(base.low, 1e-9))


_ITSELF = Paired(verdict="unknown", pairs=0, ratio=1.0, low=1.0, high=1.0, floor=0.0)


def _mean(
    baseline: Measurement, candidate: Measurement, ratios: Sequence[_Ratio]
) -> tuple[float, float, float]:
    if baseline.paired or candidate.paired:
        return _over(baseline.paired, candidate.paired)
    middle, low, high = zip(*ratios, strict=True)
    return (
        weighted_mean(middle, baseline.cases),
        weighted_mean(low, baseline.cases),
        weighted_mean(high, baseline.cases),
    )
