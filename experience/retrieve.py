"""Retrieval: which tuples answer a bottleneck, and why."""

from __future__ import annotations

from ci.trial import Frozen
from experience.tuple import ExperienceTuple


class Retrieved(Frozen):
    """A tuple with its score and the reason in words."""

    tuple: ExperienceTuple
    similarity: float
    score: float
    why: str
