"""The result of `ascendopt bench gains` as Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scipy.stats import gmean

from bot.base.text import visible
from lab.model.gains import GainRow, Gains
from lab.report.view import page

WITHOUT: Final = (0, 2, 10)
"""The mean is given without so many of the largest gains, too."""

AT_ONCE: Final = 2
"""Evaluations of a run that says after its baseline that there is nothing to win."""


def table(found: Gains) -> str:
    """The means, every operator, and why others have no result."""
    done = found.done
    improved = [row for row in done if row.verdict == "improved"]
    return page(
        "gains.md.j2",
        found=found,
        done=done,
        improved=improved,
        means=[(left, _mean(done, left)) for left in WITHOUT if left < len(done)],
        tried=sum(row.varied >= found.enough for row in improved),
        at_once=sum(row.evaluations <= AT_ONCE for row in done),
        without=[(row.operator, visible(row.said, 300)) for row in found.rows if row.said],
    )


def _mean(rows: Sequence[GainRow], left: int) -> float:
    gains = sorted(row.proposed for row in rows)
    return float(gmean(gains[: len(gains) - left]))
