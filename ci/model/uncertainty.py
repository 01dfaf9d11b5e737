"""What a gain is worth over everything that the machine's time leaves open."""

from __future__ import annotations

from math import log

from pydantic import Field, PositiveFloat

from ci.model.frozen import Frozen
from ci.model.trial import CaseMeasurement, Measurement, weighted_mean

KEPT = 0.5
"""A gain hangs on a constant when moving that one takes away more than this share of it."""


class Uncertainty(Frozen):
    """A speedup over the members of an ensemble: conditions, and constants moved one at a time.

    Each member times the operator as it stands and the candidate alike, so that what is wrong with
    both alike cancels.
    """

    speedup: PositiveFloat = Field(description="In the first condition, nothing moved.")
    low: PositiveFloat = Field(description="The least over all members.")
    high: PositiveFloat
    lowest: str = Field(description="The member that gives it.")
    highest: str
    hangs_on: tuple[str, ...] = Field(
        default=(), description="Constants and conditions that take more than half of the gain."
    )
    members: dict[str, PositiveFloat] = Field(
        description="Speedup by member; a constant's says what it is moved to."
    )

    @property
    def condition(self) -> str:
        """That of `speedup`."""
        return next(iter(self.members), "cold")

    @property
    def interval(self) -> str:
        """'1.31 to 1.62 over the machine's uncertainty'."""
        return f"{self.low:.2f} to {self.high:.2f} over the machine's uncertainty"

    def hanging(self) -> str:
        """One sentence for what the gain hangs on; '' when no member halves it."""
        if not self.hangs_on:
            return ""
        names = ", ".join(self.hangs_on)
        return f"It hangs on {names}: with {self.lowest} it is {self.low:.2f}×."


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
    lowest = min(ratios, key=lambda name: ratios[name])
    highest = max(ratios, key=lambda name: ratios[name])
    lost = [name for name, ratio in ratios.items() if log(ratio) < KEPT * log(speedup)]
    return Uncertainty(
        speedup=speedup,
        low=ratios[lowest],
        high=ratios[highest],
        lowest=lowest,
        highest=highest,
        hangs_on=tuple(dict.fromkeys(map(moved, lost))) if speedup > 1 else (),
        members=ratios,
    )


def moved(member: str) -> str:
    """The constant that a member moves, or the condition that it is."""
    return member.split(" = ")[0].split(" x ")[0]


def _speedup(pairs: list[tuple[CaseMeasurement, CaseMeasurement]], name: str) -> float:
    ratios = [before.members_us[name] / after.members_us[name] for before, after in pairs]
    return weighted_mean(ratios, [before for before, _ in pairs])
