"""The objective that a search ranks programs by: the gain in every start state of a launch.

The verdict of a run is about all of these states, so a search that ranked cold launches alone
would build on programs that are refused at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import geometric_mean

from ci.model.comparison import MINIMUM_EFFECT, SIMULATED_FLOOR, compare
from ci.model.ensemble import CONDITIONS
from ci.model.trial import Measurement, weighted_mean

OF_MEAN = 0.5
"""Share of the mean gain in the worth of a program that no state makes slower, next to the least.

What one state leaves nothing of is worth building on, and of two that gain alike in the mean the
one is worth more that gains everywhere.
"""
OF_MEAN_IN_SPITE = 0.25
"""The same where a state loses. Two steps may each help in one state and together in all: the first
must be worth something. Small enough that one state's gain of 8 % does not pay for another one's
loss of 3 %."""


def gains(before: Measurement, after: Measurement) -> dict[str, float]:
    """The speedup in each start state that both were timed in; {} where there is none.

    Geometric mean over the cases by their weights. Members of an ensemble that move a constant of
    the machine are no states.
    """
    pairs = list(zip(before.cases, after.cases, strict=True))
    known = [set(case.members_us) for pair in pairs for case in pair]
    if not known:
        return {}
    names = [n for n in pairs[0][0].members_us if n in CONDITIONS and all(n in k for k in known)]
    return {
        name: weighted_mean(
            (old.members_us[name] / new.members_us[name] for old, new in pairs), before.cases
        )
        for name in names
    }


def slower(speedup: float) -> bool:
    """Whether a speedup is a loss that simulated time can tell."""
    return speedup * (1 + SIMULATED_FLOOR) < 1


def lasts(states: Mapping[str, float]) -> bool:
    """Whether speedups by start state are a gain that is worth reporting.

    In the mean of the states it is at least the minimum effect, and no state is slower. In one
    the memory may be what limits the original and whatever is made of it.
    """
    return geometric_mean(states.values()) > 1 + MINIMUM_EFFECT and not any(
        map(slower, states.values())
    )


def worth(baseline: Measurement, measured: Measurement) -> float:
    """How many times as fast as the baseline a program counts: what a search maximises.

    The least gain over the states, times a power of what the mean gain is above it: the verdict
    asks that no state loses and that the mean gains. Where no states were timed, the gain as
    measured.
    """
    found = gains(baseline, measured)
    if not found:
        return compare(baseline, measured).speedup
    least = min(found.values())
    share = OF_MEAN_IN_SPITE if slower(least) else OF_MEAN
    return least * float((geometric_mean(found.values()) / least) ** share)


def least_gain(before: Measurement, after: Measurement) -> tuple[str, float] | None:
    """The state in which the gain is least, and that gain; None where no states were timed."""
    found = gains(before, after)
    return min(found.items(), key=lambda one: one[1]) if found else None


def score_us(baseline: Measurement, measured: Measurement) -> float:
    """The worth of a program as a time in µs: the baseline's own time over the worth."""
    return baseline.score_us / worth(baseline, measured)
