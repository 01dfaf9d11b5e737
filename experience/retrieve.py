"""Retrieval: which tuples answer a bottleneck, and why.

The score mixes what speaks for a tuple: similarity of its bottleneck to the query, a shared
bottleneck class, the same dtype, SoC and operator family, its win rate and its measured effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from ci.trial import Frozen
from experience.tuple import ExperienceTuple

# Weights of the score; they add to 1. Similarity leads, as in the paper, which retrieves by the
# bottleneck alone; the rest breaks ties between tuples that describe the same bottleneck.
SIMILARITY = 0.55
SHARED_CLASS = 0.15
SAME_FAMILY = 0.08
SAME_DTYPE = 0.04
SAME_SOC = 0.03
WIN_RATE = 0.10
EFFECT = 0.05
FULL_EFFECT = 2.0  # a measured speedup from which on the effect counts fully


class Query(Frozen):
    """What a kernel suffers from and what it is."""

    bottleneck: str
    classes: tuple[str, ...] = ()
    op_family: str = ""
    dtype: str = ""
    soc: str = ""


class Retrieved(Frozen):
    """A tuple with its score and the reason in words."""

    tuple: ExperienceTuple
    similarity: float
    score: float
    why: str


def rank(query: Query, found: Sequence[tuple[ExperienceTuple, float]], k: int) -> list[Retrieved]:
    """The k best of (tuple, similarity), each motif at most once, best first."""
    scored = sorted(
        (_score(query, t, similarity) for t, similarity in found),
        key=lambda r: (-r.score, r.tuple.id),
    )
    chosen: list[Retrieved] = []
    motifs: set[str] = set()
    for entry in scored:
        motif = entry.tuple.rule_id or entry.tuple.diff_hash
        if motif in motifs:
            continue
        motifs.add(motif)
        chosen.append(entry)
        if len(chosen) == k:
            break
    return chosen


def _score(query: Query, candidate: ExperienceTuple, similarity: float) -> Retrieved:
    shared = [c for c in query.classes if c in candidate.classes]
    # Laplace's rule: an unused tuple counts as one win in two uses.
    win_rate = (candidate.wins + 1) / (candidate.uses + 2)
    effect = log2(max(candidate.evidence.speedup, 1.0)) / log2(FULL_EFFECT)
    terms: list[tuple[float, str]] = [
        (SIMILARITY * max(similarity, 0.0), f"bottleneck similarity {similarity:.2f}")
    ]
    if shared:
        terms.append((SHARED_CLASS, f"same bottleneck class ({', '.join(shared)})"))
    if query.op_family and query.op_family == candidate.op_family:
        terms.append((SAME_FAMILY, f"same operator family ({candidate.op_family})"))
    if query.dtype and query.dtype == candidate.dtype:
        terms.append((SAME_DTYPE, f"same dtype ({candidate.dtype})"))
    if query.soc and query.soc == candidate.soc:
        terms.append((SAME_SOC, f"same SoC ({candidate.soc})"))
    terms.append((WIN_RATE * win_rate, f"won {candidate.wins} of {candidate.uses} uses"))
    terms.append(
        (
            EFFECT * min(effect, 1.0),
            f"measured {candidate.evidence.speedup:.2f}x on {candidate.operator}",
        )
    )
    return Retrieved(
        tuple=candidate,
        similarity=similarity,
        score=sum(weight for weight, _ in terms),
        why="; ".join(reason for _, reason in terms),
    )
