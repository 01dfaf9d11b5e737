"""The result of `ascendopt bench generators` as Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence

from bot.base.text import visible
from lab.model.generators import FAST, AnswerRow, GeneratorsBench
from lab.report.view import page


def table(found: GeneratorsBench) -> str:
    """The counts by category, and what is wrong with those that are not right."""
    categories = list(dict.fromkeys(row.category for row in found.rows))
    counts = [
        _counts(name, [row for row in found.rows if row.category == name]) for name in categories
    ]
    if len(counts) > 1:
        counts.append(_counts("all", found.rows))
    stopped = [(row, visible(row.said, 300)) for row in found.rows if not row.right]
    fast = FAST if found.compared else ()
    return page("generators.md.j2", found=found, counts=counts, stopped=stopped, fast=fast)


def _counts(name: str, rows: Sequence[AnswerRow]) -> tuple[str, int, int, int, int, list[str]]:
    """Name, tasks, answers, those that compiled, those that are right, and the shares fast_p."""
    return (
        name,
        len(rows),
        sum(bool(row.digest) for row in rows),
        sum(row.compiled for row in rows),
        sum(row.right for row in rows),
        [f"{sum(row.fast(p) for row in rows) / len(rows):.2f}" for p in FAST],
    )
