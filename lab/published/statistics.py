"""How well simulated times of versions agree with published ones. Pure functions of figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from statistics import median
from typing import Final

from scipy.stats import kendalltau

from ci.model.frozen import Frozen
from lab.published.figures import Pair, Simulated

DIFFERENT: Final = 0.05
"""Two versions whose published times are less apart are not asked to be in order."""

RATIO_TARGET: Final = 0.15
"""Median error of the ratio before / after that is aimed at."""

PIPE_TARGET: Final = 0.25
"""Error of a pipe's time that is aimed at."""

LEAST_SHARE: Final = 0.002
"""Pipes that are busy for less of the task are not judged: their figures are rounding."""


class PairResult(Frozen):
    """A published pair and what the machine says of it."""

    pair: Pair
    published: float
    """Ratio of the times, before over after."""
    simulated: float

    @property
    def error(self) -> float:
        """Relative error of the ratio."""
        return self.simulated / self.published - 1

    @property
    def judged(self) -> bool:
        """Whether the published times differ enough to have an order."""
        return abs(math.log(self.published)) > math.log(1 + DIFFERENT)

    @property
    def ordered(self) -> bool:
        """Whether the faster one is faster here too."""
        return (self.published > 1) == (self.simulated > 1) and self.simulated != 1


class PipeResult(Frozen):
    """Busy time of one pipe in one version, µs."""

    version: str
    pipe: str
    published_us: float
    simulated_us: float

    @property
    def error(self) -> float:
        """Relative error."""
        return self.simulated_us / self.published_us - 1


class FamilyResult(Frozen):
    """All that is said of a family."""

    family: str
    versions: tuple[Simulated, ...]
    pairs: tuple[PairResult, ...]
    pipes: tuple[PipeResult, ...]
    rank_correlation: float
    """Kendall's tau of the versions' times; published times less than 1 % apart are a tie."""
    in_order: int
    """Share of all pairs of versions that differ by more than 5 % and are in the published
    order."""
    to_order: int
    time_error: float
    """Median of the versions' absolute relative errors of the whole time."""
    ratio_error: float
    """Median of the published pairs' absolute ratio errors."""
    pipe_error: float
    """Median of the pipes' absolute relative errors."""


def judge(family: str, runs: Sequence[Simulated], pairs: Sequence[Pair]) -> FamilyResult:
    """Compare the runs of a family with their publication; pairs without both runs are left out."""
    by_name = {run.version.version: run for run in runs}
    results = [
        PairResult(
            pair=pair,
            published=by_name[pair.before].version.time / by_name[pair.after].version.time,
            simulated=by_name[pair.before].time / by_name[pair.after].time,
        )
        for pair in pairs
        if pair.family == family and pair.before in by_name and pair.after in by_name
    ]
    pipes = [
        PipeResult(
            version=run.version.version,
            pipe=pipe,
            published_us=published,
            simulated_us=run.pipes_us.get(pipe, 0.0),
        )
        for run in runs
        for pipe, published in run.version.pipes_us.items()
        if published >= LEAST_SHARE * run.version.time
    ]
    apart = [
        (a, b)
        for a, b in combinations(runs, 2)
        if abs(math.log(a.version.time / b.version.time)) > math.log(1 + DIFFERENT)
    ]
    right = sum((a.version.time > b.version.time) == (a.time > b.time) for a, b in apart)
    return FamilyResult(
        family=family,
        versions=tuple(runs),
        pairs=tuple(results),
        pipes=tuple(pipes),
        rank_correlation=rank_correlation(
            [run.version.time for run in runs], [run.time for run in runs]
        ),
        in_order=right,
        to_order=len(apart),
        time_error=_median(run.error for run in runs),
        ratio_error=_median(result.error for result in results),
        pipe_error=_median(pipe.error for pipe in pipes),
    )


def rank_correlation(published: Sequence[float], simulated: Sequence[float]) -> float:
    """Kendall's tau-b; times that are less than 1 % from the next smaller one tie with it."""
    if len(published) < 2:
        return 1.0
    found = float(kendalltau(_ranks(published), _ranks(simulated)).statistic)
    return found if not math.isnan(found) else 1.0


def _ranks(values: Sequence[float]) -> list[int]:
    ranks = [0] * len(values)
    order = sorted(range(len(values)), key=values.__getitem__)
    for before, after in zip(order, order[1:], strict=False):
        ranks[after] = ranks[before] + (values[after] > 1.01 * values[before])
    return ranks


def _median(errors: Iterable[float]) -> float:
    values = [abs(error) for error in errors]
    return median(values) if values else 0.0
