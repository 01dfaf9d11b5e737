"""Which operators a bench searches, and for how much."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.settings import DEFAULT_DEVICE


class ChosenOperators(Frozen):
    """Operators of a repository besides those that are named, and where their workloads are."""

    repository: Path | None = Field(
        default=None,
        description="Repository whose operators are run, as far as there is a workload for them.",
    )
    workloads: Path | None = Field(
        default=None,
        description="Folder with <operator>/workload.yaml; what lies next to an operator does not"
        " count then.",
    )
    sample: int = Field(
        default=0,
        ge=0,
        description="So many of the operators, spread evenly, the same ones every time; 0: all.",
    )


class Searches(ChosenOperators):
    """What each search may take."""

    budget: int = Field(
        default=40, ge=3, description="Evaluations of a run, baseline and final check included."
    )
    wall_minutes: float = Field(
        default=120.0, ge=0.0, description="Wall time after which a run ends; 0: no limit."
    )
    device: str = Field(default=DEFAULT_DEVICE, description="Device model (rules/devices).")
