"""What a gain is worth over everything that the machine's time leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from statistics import geometric_mean, quantiles
from typing import Final

from pydantic import Field, PositiveFloat

from ci.model.comparison import MINIMUM_EFFECT
from ci.model.ensemble import CONDITIONS, draw_of, is_joint
from ci.model.frozen import Frozen
from ci.model.objective import lasts, slower
from ci.model.trial import CaseMeasurement, Measurement, weighted_mean

KEPT = 0.5
"""A gain depends on a constant that, moved alone, takes away more than this share of it."""


TOGETHER: Final = "several constants moved at once"
"""The name of the draws of all constants together."""


class Uncertainty(Frozen):
    """A speedup over the members of an ensemble: conditions, constants moved one at a time, and
    draws that move all constants at once.

    Each member times the original operator and the candidate alike, so that what is wrong with
    both alike cancels.
    """

    speedup: PositiveFloat = Field(description="In the first condition, nothing moved.")
    low: PositiveFloat = Field(
        description="The least over the conditions and single constants, or what 5 % of the draws"
        " fall short of, where that is less."
    )
    high: PositiveFloat = Field(description="The same at the other end.")
    lowest: str = Field(description="The condition or single constant that gives the least.")
    highest: str
    hangs_on: tuple[str, ...] = Field(
        default=(), description="Constants and conditions that take more than half of the gain."
    )
    members: dict[str, PositiveFloat] = Field(
        description="Speedup by member; a constant's says what it is moved to."
    )

    @property
    def condition(self) -> str:
        """Return the condition of `speedup`."""
        return next(iter(self.members), "cold")

    @property
    def states(self) -> dict[str, float]:
        """Speedup by the state that a launch starts from, no constant moved."""
        found = {name: gain for name, gain in self.members.items() if name in CONDITIONS}
        return found or {self.condition: self.speedup}

    @property
    def held(self) -> float:
        """The speedup that holds in every start state, no constant moved."""
        return min(self.states.values())

    @property
    def mean(self) -> float:
        """The speedup in the geometric mean of the start states, no constant moved."""
        return geometric_mean(self.states.values())

    @property
    def typical(self) -> float:
        """The mean over the start states, or what 5 % of the draws of all constants fall short of
        in that mean, where that is less."""
        draws: dict[str, list[float]] = {}
        for name, gain in self.members.items():
            if is_joint(name):
                draws.setdefault(draw_of(name), []).append(gain)
        means = [geometric_mean(gains) for gains in draws.values()]
        drawn = quantiles(means, n=20, method="inclusive")[:1] if len(means) > 1 else []
        return min([self.mean, *drawn])

    @property
    def lasts(self) -> bool:
        """Whether the gain is worth reporting over the start states, no constant moved."""
        return lasts(self.states)

    @property
    def doubt(self) -> tuple[str, float] | None:
        """The member in which it may be no gain, with its speedup; None where it is one.

        A start state may leave nothing of a gain, but loses nothing. A constant that is moved
        alone, in the first state, leaves the minimum effect, and so do 95 % of the draws of all
        constants in the mean over the states.
        """
        single = {name: gain for name, gain in self.members.items() if not is_joint(name)}
        lost = {
            name: gain
            for name, gain in single.items()
            if (slower(gain) if name in self.states else gain <= 1 + MINIMUM_EFFECT)
        }
        if slower(self.low):
            lost.setdefault(*self.weakest)
        if self.typical <= 1 + MINIMUM_EFFECT:
            lost.setdefault(TOGETHER, self.typical)
        return min(lost.items(), key=lambda one: one[1], default=None)

    @property
    def even(self) -> bool:
        """Whether some start state or doubt leaves nothing of the gain that is worth a word."""
        return self.low <= 1 + MINIMUM_EFFECT

    @property
    def headline(self) -> str:
        """'at least 1.14×, 1.21× cold'; '1.21×' where all members agree."""
        if not self.differs:
            return f"{self.speedup:.2f}×"
        return f"at least {self.low:.2f}×, {self.speedup:.2f}× {self.condition}"

    @property
    def differs(self) -> bool:
        """True where some member gives less than `speedup`, to two digits."""
        return f"{self.low:.2f}" != f"{self.speedup:.2f}"

    @property
    def interval(self) -> str:
        """'1.31 to 1.62 over the machine's uncertainty'."""
        return f"{self.low:.2f} to {self.high:.2f} over the machine's uncertainty"

    @property
    def weakest(self) -> tuple[str, float]:
        """Where the gain is least, and that gain: a member, or several constants off at once."""
        alone = self.members[self.lowest]
        return (self.lowest, alone) if alone <= self.low else (TOGETHER, self.low)

    @property
    def strongest(self) -> tuple[str, float]:
        """The same where the gain is most."""
        alone = self.members[self.highest]
        return (self.highest, alone) if alone >= self.high else (TOGETHER, self.high)


def uncertainty(baseline: Measurement, candidate: Measurement) -> Uncertainty | None:
    """The speedup of each member; None where the two were not timed as the same members.

    Geometric mean over cases by their weights, as the speedup itself.
    """
    pairs = list(zip(baseline.cases, candidate.cases, strict=True))
    names = [list(case.members_us) for pair in pairs for case in pair]
    if not names or not names[0] or any(one != names[0] for one in names):
        return None
    ratios = {name: _speedup(pairs, name) for name in names[0]}
    speedup = next(iter(ratios.values()))
    single = {name: ratio for name, ratio in ratios.items() if not is_joint(name)}
    low, high = bounds(ratios)
    lost = [name for name, ratio in single.items() if log(ratio) < KEPT * log(speedup)]
    lowest = min(single, key=lambda name: single[name])
    highest = max(single, key=lambda name: single[name])
    return Uncertainty(
        speedup=speedup,
        low=low,
        high=high,
        lowest=lowest,
        highest=highest,
        hangs_on=tuple(dict.fromkeys(map(moved, lost))) if speedup > 1 else (),
        members=ratios,
    )


def bounds(values: Mapping[str, float]) -> tuple[float, float]:
    """The ends of what members say: of conditions and single constants the least and the most, and
    of the draws that move all constants the middle 90 %."""
    single = [value for name, value in values.items() if not is_joint(name)]
    joint = [value for name, value in values.items() if is_joint(name)]
    if len(joint) > 1:
        ends = quantiles(joint, n=20, method="inclusive")
        single += [ends[0], ends[-1]]
    return min(single), max(single)


def moved(member: str) -> str:
    """The constant that a member moves, or the condition that it is."""
    return member.split(" = ")[0].split(" x ")[0]


def _speedup(pairs: list[tuple[CaseMeasurement, CaseMeasurement]], name: str) -> float:
    ratios = [before.members_us[name] / after.members_us[name] for before, after in pairs]
    return weighted_mean(ratios, [before for before, _ in pairs])
