"""What the runs of a bench add up to: pure functions of results and of speedups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import exp, log
from typing import Final

import numpy as np
from scipy import stats

from ci.judge.roofline import rooflines
from ci.model.comparison import compare
from ci.model.result import Result
from ci.model.trial import Measurement, Outcome, Trial
from ci.search.run import SIMULATED_STEP, was_paid
from lab.model.paired import Difference
from lab.model.strategies import CaseTime

RESAMPLES: Final = 10_000
CONFIDENCE: Final = 0.95

CLEAR: Final = 0.01
"""Relative difference of two speedups from which on an operator counts as better or worse."""


def geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean of values above 0."""
    logs = [log(v) for v in values]
    return exp(sum(logs) / len(logs))


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % bootstrap interval of the geometric mean; of one value, or of equal ones, itself.

    The values are drawn again with one fixed seed, so that equal values give equal intervals.
    """
    logs = np.log(np.array(values))
    mean = float(logs.mean())
    if len(logs) < 2 or np.ptp(logs) == 0:
        return exp(mean), exp(mean)
    drawn = stats.bootstrap(
        (logs,),
        np.mean,
        confidence_level=CONFIDENCE,
        n_resamples=RESAMPLES,
        method="percentile",
        random_state=np.random.default_rng(0),
    ).confidence_interval
    return exp(float(drawn.low)), exp(float(drawn.high))


def paired(ratios: Sequence[float]) -> Difference | None:
    """The difference that the operators' ratios show; None for fewer than two operators."""
    if len(ratios) < 2:
        return None
    low, high = interval(ratios)
    return Difference(
        operators=len(ratios),
        ratio=geometric_mean(ratios),
        low=low,
        high=high,
        better=sum(r > 1 + CLEAR for r in ratios),
        worse=sum(r < 1 / (1 + CLEAR) for r in ratios),
    )


def fast(speedups: Sequence[float], threshold: float) -> float:
    """fast_p: the share of the speedups that are above the threshold."""
    return sum(s > threshold for s in speedups) / len(speedups)


def best_after(result: Result, budget: int) -> list[tuple[float, int]]:
    """(speedup, trial) of the best after each evaluation of a search, padded to its budget.

    What made a case slower, or gains less than the minimum effect, counts for nothing; no point
    is above what the run reported in the end, which was verified more thoroughly. The final
    verification costs one evaluation of the budget and is no point.
    """
    assert result.baseline.measurement is not None
    best, found = (1.0, 0), [(1.0, 0)]
    for trial in result.trials[1:]:
        if not was_paid(trial):
            continue
        if trial.outcome is Outcome.OK and trial.measurement is not None:
            comparison = compare(result.baseline.measurement, trial.measurement)
            gain = min(comparison.speedup, result.speedup)
            if comparison.verdict == "improved" and gain > best[0]:
                best = (gain, trial.number)
        found.append(best)
    return (found + [best] * (budget - 1 - len(found)))[: budget - 1]


def outcomes(trials: Sequence[Trial]) -> dict[str, int]:
    """How the trials behind the baseline ended, by the names of `KINDS`."""
    by_hash: dict[str, Trial] = {}
    for trial in trials:
        by_hash.setdefault(trial.candidate.hash, trial)
    parents = (by_hash.get(t.candidate.parent, trials[0]) for t in trials[1:])
    return dict(Counter(_kind(t, p) for t, p in zip(trials[1:], parents, strict=True)))


def _kind(trial: Trial, parent: Trial) -> str:
    if trial.cached:
        return "cached"
    if not was_paid(trial):
        return "refused"
    if trial.outcome is not Outcome.OK or trial.measurement is None:
        return trial.outcome.value
    if parent.measurement is None:
        return "slower"
    if _times(trial.measurement) == _times(parent.measurement):
        return "unchanged"
    gain = parent.measurement.score_us / trial.measurement.score_us
    return "faster" if gain > 1 + SIMULATED_STEP else "slower"


def _times(measurement: Measurement) -> tuple[float, ...]:
    return tuple(case.median_us for case in measurement.cases)


def case_times(baseline: Measurement, best: Measurement) -> tuple[CaseTime, ...]:
    """Each case before and after, with the lower one of both programs' floors."""
    floors: dict[str, float] = {}
    for one in (*rooflines(baseline), *rooflines(best)):
        floors[one.case] = min(one.floor_us, floors.get(one.case, one.floor_us))
    return tuple(
        CaseTime(
            case=before.case,
            weight=before.weight,
            before_us=before.median_us,
            after_us=after.median_us,
            floor_us=floors.get(before.case),
        )
        for before, after in zip(baseline.cases, best.cases, strict=True)
    )


def floor_share(times: Sequence[tuple[float, float, float]]) -> float:
    """How much of the time is floor: the weighted geometric mean of (weight, floor, time)."""
    total = sum(weight for weight, _, _ in times)
    return exp(sum(weight * log(floor / time) for weight, floor, time in times) / total)
