"""Which operators a bench runs, and with which workloads."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from ci.model.frozen import Frozen


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
