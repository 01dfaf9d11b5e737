"""What `ascendopt bench create` found, as data."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from ci.model.folder import Folder
from ci.model.frozen import Frozen
from ci.model.settings import DEFAULT_DEVICE, AscHeaders


class CreateBenchSettings(Frozen):
    """How the tasks of a benchmark are made to operators."""

    out: Folder = Field(
        description="Folder that takes the operators and the rows; tasks that have a row there are"
        " not made again."
    )
    category: str = Field(default="", description="Only tasks of this category.")
    elements: int = Field(
        default=1 << 17,
        ge=1 << 10,
        description="Elements that the inputs of a task may have together; larger sizes are halved"
        " until they fit.",
    )
    repository: Path | None = Field(
        default=None,
        description="Repository with hand-written operators; one of a task's name is timed on the"
        " same case.",
    )
    workloads: Path | None = Field(
        default=None,
        description="Folder of the workloads of the repository's operators, where PATH is a file of"
        " golden functions.",
    )
    device: str = Field(default=DEFAULT_DEVICE, description="Device model (rules/devices).")
    asc_headers: AscHeaders = ""


class CreateRow(Frozen):
    """What became of one task."""

    task: str
    category: str
    shapes: str = ""
    reduced: bool = False
    traced: bool = False
    compiled: bool = False
    right: bool = False
    said: str = Field(default="", description="What stopped it.")
    microseconds: float = 0.0
    floor_us: float = 0.0
    varied: int = 0
    by_hand_us: float | None = None


class CreateBench(Frozen):
    """All rows, by category and task."""

    rows: tuple[CreateRow, ...]
    pairs: bool = Field(
        default=False, description="Whether each row holds two operators of the same job together."
    )
    device: str
    elements: int
    headers: str = ""
