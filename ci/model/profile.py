"""Where the time of one trial went, as `ascendopt profile` tells it."""

from __future__ import annotations

from pydantic import Field

from ci.model.diagnosis import Diagnosis
from ci.model.frozen import Frozen
from ci.model.trial import Trial


class Roofline(Frozen):
    """Shares of the chip's peaks that one case achieves, 0 to 1."""

    case: str
    bandwidth: float = Field(
        description="Least time of the copies, each byte once, over the time that the case took."
    )
    bytes_per_second: float
    vector: float = Field(description="Busy vector units, conflicts taken off, over all of them.")
    cube: float = Field(description="Busy cube units over all of them.")
    intensity: float = Field(description="Busy arithmetic cycles for a KiB moved.")
    bound: str = Field(description="bandwidth or arithmetic: the nearer roof.")
    time_us: float = Field(description="What the case took, in µs.")
    floor_us: float = Field(
        description="Least time for the same bytes and arithmetic with their launch, in µs."
    )

    def sentence(self) -> str:
        """The figures in words."""
        unit, share = ("cube", self.cube) if self.cube > self.vector else ("vector", self.vector)
        return (
            f"{self.bandwidth:.0%} of what memory, L2 and ports can copy"
            f" ({self.bytes_per_second / 1e9:.0f} GB/s), {share:.0%} of the chip's {unit} peak;"
            f" the nearer roof is {self.bound}; {self.time_us - self.floor_us:.2f} µs above the"
            f" floor of {self.floor_us:.2f} µs"
        )


class Profile(Frozen):
    """One trial with its diagnosis, and the files that show it."""

    trial: Trial
    diagnosis: Diagnosis | None = Field(default=None, description="None when it did not run.")
    rooflines: tuple[Roofline, ...] = Field(
        default=(), description="Of each case; none for a device whose peaks are not known."
    )
    trace: str = Field(default="", description="Chrome trace of every core's pipes.")
    tables: tuple[str, ...] = Field(default=(), description="The tables of `msprof op`, as CSV.")
