"""Retrieval: which tuples answer a bottleneck, and why.

Likeness decides: the tuple whose bottleneck (or title) says what the query says comes first. Among
tuples that are equally alike promise decides: a shared bottleneck class, the same operator family,
compatible dtype and SoC, how often the motif held on similar bottlenecks (lessons and wins against
negatives and lost uses) and by how much. Who applies motifs without reading the tuples asks for
the most promising motifs instead. Pure functions of an index and a query; the bank reads and
writes the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import exp, log
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ci.model.amount import amount
from ci.model.frozen import Frozen
from experience.bank.embed import Vector
from experience.bank.index import Index
from experience.bank.tuple import TILING, ExperienceTuple
from rules.load import load_motifs

# Weights of the promise; they add to 1. Similarity and class say that the tuple answers this
# bottleneck; the motif's record says whether answering it so is worth an evaluation.
SIMILARITY = 0.30
SHARED_CLASS = 0.10
SAME_FAMILY = 0.05
SAME_DTYPE = 0.03
SAME_SOC = 0.02
RELIABILITY = 0.25
EFFECT = 0.25
FULL_EFFECT = 2.0  # a measured speedup from which on the effect counts fully

LIKENESS_STEP = 0.01
"""Tuples are equally alike when the likeness that people see, of two digits, is equal."""

SHARPNESS = 4
"""Evidence counts by similarity to this power: an unlike bottleneck (0.5) has a sixteenth."""

PRIOR = 1.0
"""Lessons for and against that every motif starts with: one of each (Laplace's rule)."""

CONFIDENT = 0.6
"""A motif that held more often than this on similar bottlenecks may be tried with others."""

DOUBTFUL = 0.4
"""A motif that held less often than this is tried after those of which nothing is known."""


class Query(Frozen):
    """The bottleneck and the traits of a kernel that tuples are sought for."""

    bottleneck: str
    classes: tuple[str, ...] = ()
    op_family: str = ""
    dtype: str = ""
    soc: str = ""
    applicable: tuple[str, ...] | None = None
    """Motifs that have a place left in this kernel; None when that is not known."""
    stage: Literal["tiling", "kernel", "joint"] = "joint"
    """Which half may change: what changes the other one alone is not offered."""
    by: Literal["likeness", "promise"] = "likeness"
    """The order of tuples: the most alike first, or those first that promise most."""


class Retrieved(Frozen):
    """A tuple with its score and the reason in words."""

    tuple: ExperienceTuple
    similarity: float
    """Likeness of its bottleneck, or of its title, to the query's."""
    score: float
    why: str
    reliability: float = 0.5
    """Share of the evidence on similar bottlenecks in which the tuple's motif helped."""
    effect: float = 1.0
    """Mean speedup where it helped, weighted by similarity."""


class Record(NamedTuple):
    """What the bank says of each motif on bottlenecks like the query's; arrays by motif code."""

    held: npt.NDArray[np.float64]
    failed: npt.NDArray[np.float64]
    gain: npt.NDArray[np.float64]

    def reliability(self, motif: int) -> float:
        """Between 0 and 1; a half where nothing is known."""
        held, failed = float(self.held[motif]), float(self.failed[motif])
        return (held + PRIOR) / (held + failed + 2 * PRIOR)


def record(index: Index, similarity: Vector) -> Record:
    """Weigh every lesson for and against each motif by its likeness to the query."""
    weight = np.clip(similarity, 0.0, 1.0).astype(np.float64)
    weight = (weight * weight) ** (SHARPNESS // 2)
    weight[index.retired] = 0.0
    motifs = len(index.motifs)
    against = index.negative
    held = np.bincount(index.motif, weight * (1.0 - against + index.wins), motifs)
    failed = np.bincount(index.motif, weight * (1.0 * against + index.losses), motifs)
    support = np.bincount(index.motif, weight * ~against, motifs)
    gain = np.bincount(index.motif, weight * ~against * index.effect, motifs)
    return Record(
        held.astype(np.float64), failed.astype(np.float64), gain / np.maximum(support, 1e-9)
    )


def order(index: Index, query: Query, alike: Vector, found: Record) -> npt.NDArray[np.float64]:
    """The score of every tuple; 0 for those that are never offered. `alike` is each one's likeness.

    Between 0 and 1: the promise, or the likeness in whole steps with the promise within a step.
    """
    likeness = np.clip(alike, 0.0, 1.0).astype(np.float64)
    score = _promise(index, query, likeness, found)
    if query.by == "likeness":
        steps = np.rint(likeness / LIKENESS_STEP)
        score = np.maximum(steps + score, 1e-9) * (LIKENESS_STEP / (1 + LIKENESS_STEP))
    if query.applicable is not None:
        usable = np.array([m in query.applicable for m in index.motifs] or [False])
        score *= usable[index.motif] | index.without_motif
    if query.stage != "joint":
        tiling = np.array([changes_tiling(m) for m in index.motifs] or [False])[index.motif]
        score[tiling != (query.stage == "tiling")] = 0.0
    score[index.retired] = 0.0
    return score


def changes_tiling(motif_id: str) -> bool:
    """Whether what a tuple teaches changes the host tiling; the kernel where no motif is known."""
    return motif_id.startswith(TILING) or motif_id in _tiling_motifs()


@cache
def _tiling_motifs() -> frozenset[str]:
    return frozenset(m.id for m in load_motifs() if m.stage == "tiling")


def _promise(
    index: Index, query: Query, likeness: npt.NDArray[np.float64], found: Record
) -> npt.NDArray[np.float64]:
    reliability = (found.held + PRIOR) / (found.held + found.failed + 2 * PRIOR)
    effect = np.clip(found.gain / log(FULL_EFFECT), 0.0, 1.0)
    score = SIMILARITY * likeness
    score += SHARED_CLASS * ((index.classes & index.class_mask(query.classes)) != 0)
    score += SAME_FAMILY * index.equals("op_family", query.op_family)
    score += SAME_DTYPE * index.equals("dtype", query.dtype)
    score += SAME_SOC * index.equals("soc", query.soc)
    score += RELIABILITY * reliability[index.motif] + EFFECT * effect[index.motif]
    return score


def choose(
    index: Index, score: npt.NDArray[np.float64], wanted: npt.NDArray[np.bool_], k: int
) -> list[int]:
    """Rows of the k best among the wanted, each motif at most once, best first."""
    if not len(index.ids):
        return []
    sorted_by_motif = np.where(wanted, score, 0.0)[index.by_motif]
    best = np.maximum.reduceat(sorted_by_motif, index.starts)
    found = []
    for motif in np.argsort(-best, kind="stable")[:k]:
        if best[motif] <= 0:
            break
        start = index.starts[motif]
        end = index.starts[motif + 1] if motif + 1 < len(index.starts) else len(sorted_by_motif)
        found.append(int(index.by_motif[start + int(np.argmax(sorted_by_motif[start:end]))]))
    return found


def told(
    query: Query, found: ExperienceTuple, similarity: float, score: float, of: Record, motif: int
) -> Retrieved:
    """The retrieved tuple with every term of its score in words."""
    shared = [c for c in query.classes if c in found.classes]
    reliability = of.reliability(motif)
    reasons = [f"likeness {similarity:.2f}"]
    if shared:
        reasons.append(f"same bottleneck class ({', '.join(shared)})")
    for name in ("op_family", "dtype", "soc"):
        value = getattr(query, name)
        if value and value == getattr(found, name):
            reasons.append(f"same {_SAID[name]} ({value})")
    reasons.append(
        f"held in {reliability:.0%} of the evidence on such bottlenecks, by"
        f" {exp(float(of.gain[motif])):.2f}x"
    )
    reasons.append(f"won {found.wins} of {amount(found.uses, 'use')}")
    if query.applicable is not None and found.motif_id:
        reasons.append("its rewrite has a place in this kernel")
    if found.evidence.failure:
        reasons.append(f"ended in {found.evidence.failure} on {found.operator}")
    else:
        factor = f"{found.evidence.speedup:.2f}x on {found.operator}"
        reasons.append(f"cost {factor}" if found.direction == "negative" else f"measured {factor}")
    return Retrieved(
        tuple=found,
        similarity=similarity,
        score=score,
        why="; ".join(reasons),
        reliability=reliability,
        effect=exp(float(of.gain[motif])),
    )


_SAID = {"op_family": "operator family", "dtype": "dtype", "soc": "SoC"}


def helpful(found: Sequence[Retrieved]) -> list[Retrieved]:
    """Return those that say what to do, and by measurement gained; the others say what not to."""
    return [r for r in found if r.tuple.gained]


def hopeless(found: Sequence[Retrieved]) -> list[Retrieved]:
    """Return those that say what was tried against such a bottleneck in vain."""
    return [r for r in found if not r.tuple.gained]
