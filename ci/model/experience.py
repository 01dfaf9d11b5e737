"""Settings and results of the jobs over the bank: rewind, refresh, and the map of a bank."""

from __future__ import annotations

from pydantic import Field

from ci.model.budget import ModelLimits
from ci.model.frozen import Frozen
from ci.model.trial import Trial


class RewindSettings(ModelLimits):
    """How far to rewind, and what counts as hurting."""

    budget: int = Field(default=40, ge=2, description="Evaluations, the starting point included.")
    steps: int = Field(default=6, ge=1, description="Longest trajectory K(0) → K(1) → …")
    per_motif: int = Field(
        default=3, ge=1, description="Ways to remove one motif that the survey tries."
    )
    noise_floor: float = Field(
        default=0.01, ge=0.0, description="A removal must slow the operator by more than this."
    )


class RewindStep(Frozen):
    """One removal that was tried."""

    step: int = Field(description="t of the kernel K(t) that it was removed from.")
    title: str
    motif_id: str
    trial: Trial
    slowdown: float | None = Field(description="slow / fast; None when it did not run.")
    tuple_id: str = Field(default="", description="The tuple it became; '' when it taught nothing.")
    known: bool = Field(default=False, description="The bank had an equal tuple already.")


class RefreshSettings(ModelLimits):
    """How much of the bank to go over."""

    sample: int = Field(
        default=20, ge=0, description="Tuples to re-verify, those unchecked for longest first."
    )
    budget: int = Field(
        default=16, ge=2, description="Evaluations to rewind an operator whose sources changed."
    )
    rewinds: int = Field(default=3, ge=0, description="Changed operators to rewind at most.")
    useless_after: int = Field(
        default=8, ge=1, description="Uses without a win after which a tuple is retired."
    )
    near: float = Field(
        default=0.98,
        gt=0.0,
        le=1.0,
        description="Likeness of bottleneck and diff above which tuples of one motif, family and "
        "SoC count as duplicates.",
    )
    noise_floor: float = Field(
        default=0.01, ge=0.0, description="Relative difference below which nothing is claimed."
    )


class Point(Frozen):
    """One tuple on the map."""

    id: str
    title: str
    operator: str
    speedup: float | None = Field(description="None when the slow side failed.")
    direction: str
    x: float
    y: float
    group: int


class Group(Frozen):
    """One cluster, and what it is called."""

    number: int
    name: str
    documented: bool = Field(description="One best-practice category of the taxonomy dominates it.")
    category: str = Field(description="The category with the largest share.")
    share: float
    size: int
    motifs: tuple[str, ...] = Field(description="Titles, the most frequent first.")
    mean_speedup: float = Field(description="Geometric mean over tuples that ran.")


class Landscape(Frozen):
    """The map of a bank."""

    points: tuple[Point, ...]
    groups: tuple[Group, ...]
    silhouette: float
    explained: tuple[float, float] = Field(description="Variance along the two axes, as shares.")
    embedding_model: str
