"""The experience tuple ⟨title, description, bottleneck, code diff⟩ with its provenance."""

from __future__ import annotations

from datetime import UTC, datetime
from math import inf
from typing import Final, Literal, TypeAlias

from pydantic import AliasChoices, Field

from ci.model.frozen import Frozen
from ci.model.trial import Fingerprint, Trial

Direction: TypeAlias = Literal["rewind", "forward", "negative"]
TILING: Final = "tiling."
"""How the `motif_id` of a tuple begins that moved one number of a host tiling."""


class EffectEvidence(Frozen):
    """Both neighbours' times and how the difference was judged."""

    slow_us: float | None = Field(
        description="None when the slow side did not run; `failure` says how it ended."
    )
    fast_us: float
    samples: int
    noise_floor: float = Field(description="Relative difference below which nothing is claimed.")
    test: str = Field(description="Such as 'deterministic simulator, exact' or 'Mann-Whitney U'.")
    p_value: float | None = None
    failure: str = Field(default="", description="Outcome of a slow side that did not run.")

    @property
    def speedup(self) -> float:
        """Ratio slow / fast; above 1 when the optimization helps, infinite when the slow side
        failed."""
        return inf if self.slow_us is None else self.slow_us / self.fast_us


class Neighbour(Frozen):
    """One side of a pair as it was measured: enough to compare with a later measurement."""

    candidate: str = Field(description="Hash of the candidate; equal programs have equal hashes.")
    outcome: str
    median_us: dict[str, float] = Field(default_factory=dict, description="By workload case.")
    busy: dict[str, float] = Field(
        default_factory=dict, description="Share of the time by pipe, mean over the cases."
    )

    @classmethod
    def of(cls, trial: Trial) -> Neighbour:
        """Return the figures that a trial measured."""
        cases = trial.measurement.cases if trial.measurement else ()
        busy: dict[str, float] = {}
        for case in cases:
            total = max(1, case.pipes.total_cycles) * len(cases)
            for pipe, cycles in case.pipes.busy_cycles.items():
                busy[pipe] = busy.get(pipe, 0.0) + cycles / total
        return cls(
            candidate=trial.candidate.hash,
            outcome=trial.outcome.value,
            median_us={c.case: round(c.median_us, 4) for c in cases},
            busy={p: round(b, 3) for p, b in busy.items() if b >= 0.0005},
        )


class ExperienceTuple(Frozen):
    """One earned piece of knowledge. Unique on (diff_hash, op_family, soc)."""

    id: str = Field(description="First 12 hex digits of sha256(diff_hash, op_family, soc).")
    title: str
    description: str
    bottleneck: str = Field(description="What the slow side suffers from: the retrieval key.")
    classes: tuple[str, ...] = Field(default=(), description="Taxonomy ids of the bottleneck.")
    diff: str = Field(description="Unified diff from slow to fast; '' when it was stripped.")
    diff_hash: str = Field(description="sha256 of the diff with paths, spaces and names normal.")
    motif_id: str = Field(
        default="",
        validation_alias=AliasChoices("motif_id", "rule_id"),  # as it was called before
        description="Motif in rules/motifs, or move of a tiling's number, when one made it.",
    )
    op_family: str
    dtype: str = ""
    soc: str
    direction: Direction = Field(
        description="A removal that hurt, a rewrite that helped, or one that did not."
    )
    evidence: EffectEvidence
    slow: Neighbour | None = Field(default=None, description="K(t+1), the slower neighbour.")
    fast: Neighbour | None = Field(default=None, description="K(t), the faster neighbour.")
    trajectory: str = Field(default="", description="Walk K(0) → K(1) → … that it belongs to.")
    step: int = Field(default=0, description="t of its fast side K(t) in that walk.")
    operator: str
    source_commit: str = ""
    origin: str = Field(default="", description="What earned it: a walk, a run, a merge request.")
    fingerprint: Fingerprint
    status: Literal["candidate", "verified", "retired"] = "verified"
    retired_because: str = ""
    checked: datetime | None = Field(default=None, description="When it was last re-verified.")
    uses: int = 0
    wins: int = 0
    created: datetime = Field(default_factory=lambda: datetime.now(UTC))

    @property
    def gained(self) -> bool:
        """Whether its diff leads to something measurably faster than what it starts from."""
        least = 1 + self.evidence.noise_floor
        return self.direction != "negative" and self.evidence.speedup > least
