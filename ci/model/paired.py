"""Baseline against candidate from samples taken in turn, as a device gives them."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from ci.model.amount import amount
from ci.model.frozen import Frozen

PairedVerdict: TypeAlias = Literal["faster", "not faster", "unknown"]


class Paired(Frozen):
    """How many times faster the candidate is than the baseline, by pairs of samples."""

    verdict: PairedVerdict = Field(
        description="unknown: the pairs decide neither, more of them may."
    )
    pairs: int = Field(description="Pairs that count; those that were dropped do not.")
    ratio: float = Field(description="Baseline's time over the candidate's: the estimate.")
    low: float = Field(description="The ratio is above this, at the error that this look may spend")
    high: float = Field(description="… and below this.")
    floor: float = Field(
        description="Relative difference that two builds of one program show on this device."
    )
    dropped: dict[str, int] = Field(
        default={}, description="Pairs that do not count, by why: throttled, contended, outlier."
    )

    @property
    def counted(self) -> str:
        """'20 pairs, noise floor 1.2%, dropped: 3 throttled'."""
        said = f"{amount(self.pairs, 'pair')}, noise floor {self.floor:.1%}"
        if self.dropped:
            named = ", ".join(f"{count} {why}" for why, count in sorted(self.dropped.items()))
            said += f", dropped: {named}"
        return said
