"""What `bench statistics` is asked, and how often the paired verdicts are wrong."""

from __future__ import annotations

from pydantic import Field

from ci.model.frozen import Frozen

FALSE_FASTER = 0.01
"""Share of equal programs that may be called faster."""

FOUND = 0.95
"""Share of gains of 5 % that must be found."""

SPARED = 0.5
"""Share of the samples that losers must spare."""


class NoiseSettings(Frozen):
    """How many experiments, under how much noise."""

    trials: int = Field(default=10_000, ge=100, description="Experiments of each row.")
    scatter: float = Field(
        default=0.02, gt=0, lt=0.5, description="Relative standard deviation of one sample."
    )
    seed: int = Field(default=0, ge=0, description="Equal seeds give equal tables.")

    @property
    def gains(self) -> tuple[float, ...]:
        """True relative gains: losers, a program against itself, what must be found, more."""
        return (-0.05, -0.02, 0.0, 0.05, 0.1)


class NoiseRow(Frozen):
    """One kind of noise and one true gain."""

    noise: str
    gain: float = Field(description="True relative gain of the candidate.")
    trials: int
    faster: float = Field(description="Share of experiments with the verdict faster.")
    not_faster: float = Field(description="Share with the verdict not faster.")
    pairs: float = Field(description="Mean number of pairs that an experiment took.")
    most_pairs: int = Field(description="Pairs that it takes when nothing stops it.")
    must_find: bool = Field(
        default=True, description="False where the device's own floor may hide a gain."
    )

    @property
    def spared(self) -> float:
        """Share of the pairs that stopping early spared."""
        return 1 - self.pairs / self.most_pairs

    @property
    def holds(self) -> bool:
        """Whether it is as good as promised."""
        if self.gain <= 0:
            return self.faster < FALSE_FASTER and self.spared >= SPARED
        return self.faster >= FOUND or not self.must_find
