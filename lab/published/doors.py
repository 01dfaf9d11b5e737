"""What the front doors come to: published versions through our headers and through real ones."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final

from ci.model.frozen import Frozen
from lab.published.figures import Simulated
from lab.published.statistics import FamilyResult, PairResult

APART: Final = 0.01
"""Times of one version that differ by more between the doors are reported."""


class DoorResult(Frozen):
    """All families through one door."""

    door: str
    """The door as the page names it."""
    families: tuple[FamilyResult, ...]

    @property
    def judged(self) -> list[PairResult]:
        """The published pairs that differ enough to have an order."""
        return [pair for one in self.families for pair in one.pairs if pair.judged]

    @property
    def ordered(self) -> int:
        """How many of these come out in order."""
        return sum(pair.ordered for pair in self.judged)

    @property
    def ratio_error(self) -> float:
        """Median of the absolute ratio errors of these."""
        return median(abs(pair.error) for pair in self.judged) if self.judged else 0.0

    @property
    def time_error(self) -> float:
        """Median of the absolute relative errors of all versions' whole times."""
        errors = [abs(run.error) for one in self.families for run in one.versions]
        return median(errors) if errors else 0.0


class Differing(Frozen):
    """A version that takes another time through another door."""

    own: Simulated
    real: Simulated


def recommended(doors: Sequence[DoorResult]) -> DoorResult:
    """The door whose times agree better with the published ones: more pairs in order, then the
    smaller error of their ratios. The first of equal ones."""
    return max(doors, key=lambda door: (door.ordered, -door.ratio_error))


def differing(own: DoorResult, real: DoorResult) -> list[Differing]:
    """The versions whose times differ between the doors."""
    pairs = [
        Differing(own=a, real=b)
        for one, other in zip(own.families, real.families, strict=True)
        for a, b in zip(one.versions, other.versions, strict=True)
    ]
    return [one for one in pairs if abs(one.real.time / one.own.time - 1) > APART]
