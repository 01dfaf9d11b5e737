"""What `bench gains` is asked, and what `optimize` proposes for each operator."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from ci.model.folder import Folder
from ci.model.frozen import Frozen
from lab.model.chosen import Searches


class GainsSettings(Searches):
    """Which operators are optimized, at which size, and for how much."""

    out: Folder = Field(
        default=Path("ascendopt-out/gains"),
        description="Folder of the runs; those that it holds already are not made again.",
    )
    elements: int = Field(
        default=0,
        ge=0,
        description="Elements of the largest input that each case has at least: smaller cases are"
        " lengthened in the first dimension that the operator takes longer. 0: cases as they are.",
    )
    seed: int = Field(default=0, ge=0, description="Seed of the searches.")
    workers: int = Field(default=2, ge=1, description="Searches side by side.")


class GainRow(Frozen):
    """What `optimize` proposed for one operator."""

    operator: str
    said: str = Field(default="", description="Why there is no result; '' where there is one.")
    verdict: str = ""
    reason: str = ""
    speedup: float = Field(default=1.0, description="From a cold start, of the fastest verified.")
    low: float = Field(default=1.0, description="The least over start states and constants.")
    before_us: float = 0.0
    after_us: float = 0.0
    floor_us: float = Field(default=0.0, description="Geometric mean; 0 where it is not known.")
    bottleneck: str = Field(default="", description="Of the program that the run ended with.")
    cases: int = Field(default=0, description="Of the workload.")
    varied: int = Field(default=0, description="Varied cases that the final check tried.")
    regimes: int = Field(default=0, description="Of the host side, all of them tried; 0: unasked.")
    evaluations: int = 0
    seconds: float = Field(default=0.0, description="Wall time of the search.")

    @property
    def proposed(self) -> float:
        """The speedup that a merge request would claim; 1 where none is made."""
        return self.speedup if self.verdict == "improved" else 1.0


class Gains(Frozen):
    """All rows in the order of the operators."""

    settings: GainsSettings
    version: str = Field(description="Of the simulator that timed them.")
    enough: int = Field(description="Varied cases that an improved operator is to be tried on.")
    rows: tuple[GainRow, ...]

    @property
    def done(self) -> list[GainRow]:
        """The operators that were optimized."""
        return [row for row in self.rows if not row.said]
