"""The experience tuple ⟨title, description, bottleneck, code diff⟩ with its provenance."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from pydantic import Field

from ci.trial import Fingerprint, Frozen


class EffectEvidence(Frozen):
    """Both neighbours' times and how the difference was judged."""

    slow_us: float
    fast_us: float
    samples: int
    noise_floor: float = Field(description="Relative difference below which nothing is claimed.")
    test: str = Field(description="Such as 'deterministic simulator, exact' or 'Mann-Whitney U'.")
    p_value: float | None = None

    @property
    def speedup(self) -> float:
        """slow / fast; above 1 when the optimization helps."""
        return self.slow_us / self.fast_us


class ExperienceTuple(Frozen):
    """One earned piece of knowledge. Unique on (diff_hash, op_family, soc)."""

    id: str = Field(description="First 12 hex digits of sha256(diff_hash, op_family, soc).")
    title: str
    description: str
    bottleneck: str = Field(description="What the slow side suffers from: the retrieval key.")
    classes: tuple[str, ...] = Field(default=(), description="Taxonomy ids of the bottleneck.")
    diff: str = Field(description="Unified diff from slow to fast.")
    diff_hash: str = Field(description="sha256 of the diff with paths, spaces and names normal.")
    rule_id: str = Field(default="", description="Motif in rules/rewrites, when a rule made it.")
    op_family: str
    dtype: str = ""
    soc: str
    direction: Literal["rewind", "forward", "negative"]
    evidence: EffectEvidence
    operator: str
    source_commit: str = ""
    fingerprint: Fingerprint
    status: Literal["candidate", "verified", "retired"] = "verified"
    uses: int = 0
    wins: int = 0
    created: datetime = Field(default_factory=lambda: datetime.now(UTC))
