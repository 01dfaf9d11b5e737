"""What `ascendopt bench generators` found, as data."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import Field

from ci.model.folder import Folder
from ci.model.frozen import Frozen
from ci.model.settings import DEFAULT_DEVICE, AscHeaders

FAST: Final = (1.0, 1.5, 2.0)
"""The p of fast_p: a task counts that is right and p times as fast as the reference."""


class GeneratorsSettings(Frozen):
    """How answers of a generator are judged."""

    answers: Path = Field(
        description="Folder of answers, [CATEGORY/]TASK.txt as MultiKernelBench keeps them, or"
        " [CATEGORY/]TASK/ with op_host and op_kernel."
    )
    out: Folder = Field(
        description="Folder that takes the answers as operators, and the rows; an answer that has"
        " a row there is not judged again until its text changes."
    )
    against: Path | None = Field(
        default=None,
        description="Folder of `bench create --out`, whose operators fast_p compares with; without"
        " it nothing is said about speed.",
    )
    category: str = Field(default="", description="Only tasks of this category.")
    elements: int = Field(
        default=1 << 17,
        ge=1 << 10,
        description="Elements that the inputs of a task may have together; larger sizes are halved"
        " until they fit.",
    )
    jobs: int = Field(default=2, ge=1, le=64, description="Answers that are judged at a time.")
    device: str = Field(default=DEFAULT_DEVICE, description="Device model (rules/devices).")
    asc_headers: AscHeaders = ""


class AnswerRow(Frozen):
    """What became of one answer."""

    task: str
    category: str
    digest: str = Field(default="", description="Of the answer's texts; '' where there is none.")
    compiled: bool = False
    right: bool = False
    outcome: str = Field(default="", description="ok, or how it failed.")
    gate: str = Field(default="", description="Which check refused it.")
    said: str = Field(default="", description="What is wrong with it.")
    microseconds: float = 0.0
    varied: int = Field(default=0, description="Varied cases that it passed.")
    declined: int = Field(default=0, description="Varied cases that its host side turned down.")
    reference_us: float | None = None

    def fast(self, times: float) -> bool:
        """Whether it is right and so many times as fast as the reference."""
        known = self.right and self.reference_us is not None
        # Equal times are a mean in one place and a single figure in the other.
        least = times * self.microseconds * (1 - 1e-9)
        return known and self.reference_us >= least  # type: ignore[operator]


class GeneratorsBench(Frozen):
    """All rows, by category and task."""

    rows: tuple[AnswerRow, ...]
    device: str
    elements: int
    compared: bool = Field(description="Whether there are reference times.")
