"""Takes samples of baseline and candidate in turn until a look at them decides.

A round samples each case of the workload once for both programs, one right after the other; a fair
coin says which goes first. The verdict is on the weighted mean over the cases; a case that surely
became slower ends it too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from ci.judge.paired.plan import UNBOUNDED, Plan
from ci.judge.paired.screen import MOST_DROPPED, Screened, screen
from ci.judge.paired.signed_rank import Floats
from ci.model.launch import Sample
from ci.model.paired import Paired

Side = Literal["baseline", "candidate"]
Take = Callable[[Side, str], Sample]
"""One sample of a side's program on the case of this name."""

MEAN: Final = ""
"""The name under which the mean over the cases stands next to them."""

_SIDES: Final[tuple[Side, Side]] = ("baseline", "candidate")


@dataclass(frozen=True)
class Rounds:
    """The rounds that count, and what they say."""

    cases: tuple[str, ...]
    times: Floats
    """In µs, by round, case and side (baseline, candidate)."""
    logs: dict[str, Floats]
    """Logarithms of baseline over candidate, by case and for the mean."""
    found: dict[str, Paired]
    """Verdicts by case and for the mean."""

    @property
    def mean(self) -> Paired:
        """What is found of the mean over the cases."""
        return self.found[MEAN]


def take_rounds(
    take: Take,
    weights: Mapping[str, float],
    floors: Mapping[str, float],
    *,
    seed: int,
    plan: Plan | None = None,
    most_looks: int | None = None,
) -> Rounds:
    """Sample both programs on the cases of `weights` until the plan decides.

    `floors` has the noise floor of each case and of the mean; `most_looks` ends it after so many
    looks whatever is decided (an A/A run has one). A round with a sample that was throttled,
    contended or an outlier is taken again, as often as rounds count at most; after that the
    verdict stays unknown. What `take` raises passes on.
    """
    plan = plan or Plan()
    coin = random.Random(seed)
    cases = tuple(weights)
    rounds: list[list[tuple[Sample, Sample]]] = []
    for look in plan.looks[:most_looks]:
        kept = _screened(rounds).kept if rounds else np.zeros(0, dtype=bool)
        while kept.sum() < look and len(rounds) * MOST_DROPPED < look:
            rounds.append([_pair(take, case, coin) for case in cases])
            kept = _screened(rounds).kept
        found = _look(rounds, cases, weights, floors, plan, look)
        if found.mean.verdict != "unknown" or _lost(found) or kept.sum() < look:
            break
    return found


def _pair(take: Take, case: str, coin: random.Random) -> tuple[Sample, Sample]:
    order = _SIDES if coin.random() < 0.5 else _SIDES[::-1]
    taken = {side: take(side, case) for side in order}
    return taken["baseline"], taken["candidate"]


def _screened(rounds: Sequence[Sequence[tuple[Sample, Sample]]]) -> Screened:
    """Which rounds count: those of which every case's pair does."""
    samples = np.array([[[tuple(s) for s in pair] for pair in one] for one in rounds], dtype=float)
    cases = [
        screen(samples[:, i, :, 0], samples[:, i, :, 1], samples[:, i, :, 2] > 0)
        for i in range(samples.shape[1])
    ]
    throttled = np.any([c.throttled for c in cases], axis=0)
    contended = np.any([c.contended for c in cases], axis=0) & ~throttled
    outlier = np.any([c.outlier for c in cases], axis=0) & ~throttled & ~contended
    return Screened(~(throttled | contended | outlier), throttled, contended, outlier)


def _look(
    rounds: Sequence[Sequence[tuple[Sample, Sample]]],
    cases: tuple[str, ...],
    weights: Mapping[str, float],
    floors: Mapping[str, float],
    plan: Plan,
    look: int,
) -> Rounds:
    screened = _screened(rounds)
    all_times = np.array([[[s.us for s in pair] for pair in one] for one in rounds])
    times = all_times[screened.kept][:look]
    ratios = np.log(times[..., 0] / times[..., 1])
    logs = {case: ratios[:, i] for i, case in enumerate(cases)}
    logs[MEAN] = np.average(ratios, axis=1, weights=[weights[c] for c in cases])
    found = {}
    for name, values in logs.items():
        if len(values) == 0:
            found[name] = Paired(
                verdict="unknown", pairs=0, ratio=1.0, low=0.0, high=UNBOUNDED,
                floor=floors[name], dropped=screened.dropped,
            )  # fmt: skip
            continue
        bounds = plan.decide(values, floors[name])
        found[name] = bounds.paired(len(values), floors[name], screened.dropped)
    return Rounds(cases, times, logs, found)


def _lost(rounds: Rounds) -> bool:
    """Whether a case surely became slower by more than its floor."""
    return any(
        rounds.found[case].high < 1 / (1 + rounds.found[case].floor) for case in rounds.cases
    )
