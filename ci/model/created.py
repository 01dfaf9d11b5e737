"""The operator that `ascendopt create` made, as data."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from ci.model.budget import ModelLimits
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.settings import DEFAULT_DEVICE, AscHeaders
from ci.model.trial import CaseMeasurement, Fingerprint
from ci.model.workload import Tolerance


class NotTraced(InputError):
    """A function of which tracing makes no right operator; a model may write one."""


class CreateSettings(ModelLimits):
    """How an operator is made."""

    workload: Path | None = Field(
        default=None, description="Workload file: the shapes, dtypes and values to make it for."
    )
    from_benchmark: bool = Field(
        default=False,
        description="GOLDEN is a task of a benchmark: a file of MultiKernelBench with a PyTorch"
        " module, or a folder of cann-bench.",
    )
    out: Path = Field(description="Folder that takes the operator; it must not exist.")
    name: str | None = Field(
        default=None,
        description="Name of the operator; that of the golden function when not given.",
    )
    proposer: str = Field(
        default="rules",
        description="Who writes the tile program of what cannot be traced: rules (nobody), llm (a"
        " language model), or replay:FILE, which takes the answers that FILE.calls.sqlite holds.",
    )
    models: Path | None = Field(
        default=None,
        description="YAML file that says which model fills which role of --proposer llm;"
        " $ASCENDOPT_LLM_MODELS when not given.",
    )
    device: str = Field(default=DEFAULT_DEVICE, description="Device model (rules/devices).")
    asc_headers: AscHeaders = ""


class CreatedCase(Frozen):
    """A case of the workload as the created operator runs it."""

    name: str
    microseconds: float
    cores: int
    tiling_key: int
    floor_us: float = Field(description="What its memory traffic takes at the least.")


class Created(Frozen):
    """An operator that was made, and what was verified of it."""

    operator: str
    folder: str
    program: str = Field(description="The tile program, as text.")
    cases: tuple[CreatedCase, ...]
    varied: int = Field(description="Cases of other shapes, dtypes and values that it passed.")
    declined: int = Field(description="Such cases that its tiling does not take.")
    notes: tuple[str, ...] = Field(
        default=(), description="What it gets wrong among extreme values, which none is asked for."
    )
    device: str
    headers: str = ""
    written_by: str = Field(default="", description="Model that wrote the program; '': traced.")
    tokens: int = Field(default=0, description="Of that model.")
    cost: float = Field(default=0.0, description="In the price's currency.")


class Judged(Frozen):
    """The verdict on a made operator on the cases of its workload, and its reasons."""

    fingerprint: Fingerprint
    cases: tuple[CaseMeasurement, ...] = Field(description="Times, over the ensemble too.")
    floors_us: dict[str, float] = Field(description="Least time of each case, in µs.")
    tolerances: dict[str, Tolerance] = Field(description="By dtype.")
