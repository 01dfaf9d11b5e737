"""Counts of a census: how far the operators get, and what would unlock how many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ci.model.census import CensusRow, Reason, Stage, Summary


def summarize(rows: Sequence[CensusRow], left_out: str = "") -> Summary:
    """Add up the rows of a census; `left_out` is said of the repository's other kernels."""
    chip = [row for row in rows if row.declared_for_chip]
    others = [row for row in rows if row.tried_as]
    told = (Stage.FOUND, Stage.RUNS, Stage.VERIFIED)
    categories = sorted({row.category for row in rows})
    return Summary(
        operators=len(rows),
        for_chip=len(chip),
        reached=_reached(rows),
        reached_for_chip=_reached(chip),
        by_category={c: _reached([r for r in rows if r.category == c]) for c in categories},
        auto_sync=dict(Counter(row.auto_sync for row in chip if row.auto_sync)),
        tried_as={stage: sum(row.passes(stage) for row in others) for stage in told if others},
        reasons=reasons([*chip, *others]),
        versions=tuple(sorted({row.version for row in rows if row.version})),
        left_out=left_out,
    )


def _reached(rows: Sequence[CensusRow]) -> dict[Stage, int]:
    return {stage: sum(row.passes(stage) for row in rows) for stage in Stage}


def reasons(rows: Sequence[CensusRow]) -> tuple[Reason, ...]:
    """The first error of each operator, equal ones together.

    An operator counts once, for the earliest stage that stops it: fixing that is what would let it
    go on. Errors of later stages may be waiting behind.
    """
    order, short = list(Stage), _short([row.path for row in rows])
    stopped: dict[tuple[str, Stage], list[str]] = {}
    for row in rows:
        if row.failures:
            first = min(row.failures, key=lambda f: order.index(f.stage))
            stopped.setdefault((first.reason, first.stage), []).append(short[row.path])
    ranked = sorted(stopped.items(), key=lambda item: (-len(item[1]), item[0][0]))
    return tuple(
        Reason(reason=reason, stage=stage, operators=tuple(sorted(names)))
        for (reason, stage), names in ranked
    )


def _short(paths: Sequence[str]) -> dict[str, str]:
    """The end of each path that no other one has, of as few names as will do."""
    ends = Counter(end for path in set(paths) for end in _ends(path))
    return {path: next((e for e in _ends(path) if ends[e] == 1), path) for path in paths}


def _ends(path: str) -> list[str]:
    """The ends of a path, the shortest first, and the path as a whole."""
    names = path.split("/")
    return ["/".join(names[-count:]) for count in range(1, len(names) + 1)]
