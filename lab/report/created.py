"""The result of `ascendopt bench create` as Markdown tables."""

from __future__ import annotations

from typing import Final

from scipy.stats import gmean

from bot.base.text import visible
from lab.model.create import CreateBench
from lab.report.view import page

CLOSE: Final = 1.1
"""A made operator that takes no more than this times the other is as fast as it."""


def part(found: CreateBench) -> str:
    """The part of a page that its table replaces: tasks and pairs each have their own."""
    door = " --asc-headers" if found.headers else ""
    return f"create GOLDENS.py{door}" if found.pairs else f"create{door}"


def table(found: CreateBench) -> str:
    """The counts by category, every task, and what stops those that are not right."""
    stopped = [(r, visible(r.said, 300)) for r in found.rows if not r.right]
    if found.headers:
        return page("created_doors.md.j2", found=found, stopped=stopped)
    if found.pairs:
        ratios = [r.microseconds / r.by_hand_us for r in found.rows if r.by_hand_us]
        return page(
            "created_pairs.md.j2",
            found=found,
            as_fast=sum(ratio <= CLOSE for ratio in ratios),
            mean=gmean(ratios) if ratios else None,
            stopped=stopped,
        )
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
    return page("created.md.j2", found=found, counts=counts, stopped=stopped)
