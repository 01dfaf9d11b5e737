"""The result of `ascendopt bench create` as Markdown tables."""

from __future__ import annotations

from bot.base.text import visible
from bot.report.view import page
from ci.model.bench.create import CreateBench


def table(found: CreateBench) -> str:
    """The counts by category, every task, and what stops those that are not right."""
    categories = list(dict.fromkeys(r.category for r in found.rows))
    counts = [
        (
            name,
            len(own := [r for r in found.rows if r.category == name]),
            sum(r.traced for r in own),
            sum(r.compiled for r in own),
            sum(r.right for r in own),
        )
        for name in categories
    ]
    stopped = [(r, visible(r.said, 300)) for r in found.rows if not r.right]
    return page("created.md.j2", found=found, counts=counts, stopped=stopped)
