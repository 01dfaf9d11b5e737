"""The landscape of a bank: embeddings in two dimensions, grouped, and named by what they hold.

The paper's Figure 3 and Table 6. Vectors are projected by PCA and grouped by k-means, with k from
the best silhouette. A group that one category of the documented best practices dominates carries
that category's name; the others are distinguished as emergent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import exp, log

import numpy as np
import numpy.typing as npt
from scipy.cluster.vq import kmeans2
from scipy.spatial.distance import cdist

from ci.model.experience import Group, Landscape, Point
from experience.bank.embed import Vector
from experience.bank.tuple import ExperienceTuple
from rules.load import load_motifs, load_taxonomy

MOST_GROUPS = 12
LEAST_GROUPS = 2

COMPONENTS = 16
"""Leading principal components that are grouped: the rest is the wording of single sentences."""

DOMINATES = 0.6
"""A category names a group when it holds this share of the group's tuples."""

ATTEMPTS = 8
"""k-means starts for each k; the one with the least inertia counts."""

SILHOUETTE_ROWS = 2000
"""Rows that a silhouette is computed from; it needs all their distances."""


def landscape(
    tuples: Sequence[ExperienceTuple],
    vectors: Vector,
    model: str,
    *,
    groups: int = 0,
    seed: int = 0,
) -> Landscape | None:
    """The map of these tuples; None for fewer than three. `groups` 0 chooses by silhouette."""
    if len(tuples) < LEAST_GROUPS + 1:
        return None
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    projected = u * s
    if projected.shape[1] < 2:
        projected = np.pad(projected, ((0, 0), (0, 2 - projected.shape[1])))
    shares = np.pad(s**2 / max(float((s**2).sum()), 1e-12), (0, 2))
    labels, silhouette = _grouped(projected[:, :COMPONENTS], groups, seed)
    order = [n for n, _ in Counter(labels.tolist()).most_common()]
    number = {old: new for new, old in enumerate(order)}
    points = tuple(
        Point(
            id=t.id,
            title=t.title,
            operator=t.operator,
            speedup=None if t.evidence.slow_us is None else t.evidence.speedup,
            direction=t.direction,
            x=float(row[0]),
            y=float(row[1]),
            group=number[int(label)],
        )
        for t, row, label in zip(tuples, projected, labels, strict=True)
    )
    found = [
        _group(n, [t for t, p in zip(tuples, points, strict=True) if p.group == n])
        for n in range(len(order))
    ]
    return Landscape(
        points=points,
        groups=tuple(_told_apart(found)),
        silhouette=silhouette,
        explained=(float(shares[0]), float(shares[1])),
        embedding_model=model,
    )


def _grouped(
    rows: npt.NDArray[np.float64], groups: int, seed: int
) -> tuple[npt.NDArray[np.int64], float]:
    """Labels and silhouette of the best k."""
    distinct = len(np.unique(rows.round(9), axis=0))
    if distinct < LEAST_GROUPS + 1:
        return np.unique(rows.round(9), axis=0, return_inverse=True)[1].reshape(-1), 0.0
    most = min(MOST_GROUPS, distinct - 1)
    ks = [min(groups, most)] if groups else range(LEAST_GROUPS, most + 1)
    best: tuple[float, npt.NDArray[np.int64]] | None = None
    for k in ks:
        labels = _kmeans(rows, k, seed)
        score = silhouette(rows, labels, seed)
        if best is None or score > best[0]:
            best = (score, labels)
    assert best is not None
    return best[1], best[0]


def _kmeans(rows: npt.NDArray[np.float64], k: int, seed: int) -> npt.NDArray[np.int64]:
    found = []
    for attempt in range(ATTEMPTS):
        centres, labels = kmeans2(
            rows, k, minit="++", seed=np.random.default_rng([seed, k, attempt]), missing="warn"
        )
        inertia = float(((rows - centres[labels]) ** 2).sum())
        found.append((inertia, attempt, labels))
    best: npt.NDArray[np.int64] = min(found, key=lambda f: f[:2])[2].astype(np.int64)
    return best


def silhouette(rows: npt.NDArray[np.float64], labels: npt.NDArray[np.int64], seed: int) -> float:
    """Mean silhouette: between -1 and 1, the higher the better the groups are apart."""
    if len(rows) > SILHOUETTE_ROWS:
        some = np.random.default_rng(seed).choice(len(rows), SILHOUETTE_ROWS, replace=False)
        rows, labels = rows[some], labels[some]
    kinds, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if len(kinds) < 2:
        return 0.0
    distance = cdist(rows, rows)
    sums = np.stack([distance[:, codes == i].sum(axis=1) for i in range(len(kinds))], axis=1)
    mine = np.arange(len(rows))
    own = sums[mine, codes] / np.maximum(sizes[codes] - 1, 1)
    others = sums / sizes
    others[mine, codes] = np.inf
    nearest = others.min(axis=1)
    score = (nearest - own) / np.maximum(np.maximum(nearest, own), 1e-12)
    score[sizes[codes] == 1] = 0.0
    return float(score.mean())


def _group(number: int, tuples: Sequence[ExperienceTuple]) -> Group:
    taxonomy = load_taxonomy()
    motifs = {m.id: m for m in load_motifs()}
    classes: Counter[str] = Counter()
    practices: Counter[str] = Counter()
    for t in tuples:
        # what the removed optimization is about comes first; a model's tuple has the diagnosis
        of = motifs[t.motif_id].classes if t.motif_id in motifs else t.classes
        known = next((c for c in of if c in taxonomy), "")
        classes[known] += 1
        practices[taxonomy[known].practice if known else "none"] += 1
    category, count = practices.most_common(1)[0]
    share = count / len(tuples)
    documented = share >= DOMINATES and category != "none"
    main = next((c for c, _ in classes.most_common() if c), "")
    title = taxonomy[main].title if main else "no known bottleneck"
    speedups = [t.evidence.speedup for t in tuples if t.evidence.slow_us is not None]
    return Group(
        number=number,
        name=f"{category}: {title}" if documented else f"emergent: {title}",
        documented=documented,
        category=category,
        share=share,
        size=len(tuples),
        motifs=tuple(m for m, _ in Counter(t.title for t in tuples).most_common(3)),
        mean_speedup=exp(sum(map(log, speedups)) / len(speedups)) if speedups else 1.0,
    )


def _told_apart(groups: Sequence[Group]) -> list[Group]:
    """Groups of one name also carry their most frequent motif."""
    names = Counter(g.name for g in groups)
    return [
        g.model_copy(update={"name": f"{g.name} ({g.motifs[0]})"}) if names[g.name] > 1 else g
        for g in groups
    ]
