"""The results of `ascendopt bench pool` and `bench screen` as Markdown tables."""

from __future__ import annotations

from lab.model.pool import PoolBench
from lab.model.screen import ScreenBench
from lab.report.view import page


def workers(found: PoolBench) -> str:
    """What pools of so many workers did; the digest of the trials where they were a search's."""
    return page("pool.md.j2", rows=found.rows, searched=any(row.trials for row in found.rows))


def spared(found: ScreenBench) -> str:
    """What a screening simulator spared the device, by operator and in all."""
    return page("screen.md.j2", rows=found.rows)
