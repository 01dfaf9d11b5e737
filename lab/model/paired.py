"""What two arms of a bench differ by, over the same operators."""

from __future__ import annotations

from pydantic import Field

from ci.model.frozen import Frozen


class Difference(Frozen):
    """One arm against another, each operator against itself."""

    operators: int
    ratio: float = Field(description="Geometric mean over operators of the speedups' ratio.")
    low: float = Field(description="Lower end of the 95 % bootstrap interval of the ratio.")
    high: float
    better: int = Field(description="Operators that are faster with the first arm by 1 % and more.")
    worse: int

    @property
    def verdict(self) -> str:
        """Whether the interval decides: 'leads', 'is behind', or 'no difference is shown'."""
        if self.low > 1:
            return "leads"
        return "is behind" if self.high < 1 else "no difference is shown"
