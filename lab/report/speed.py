"""The result of `ascendopt bench machine` as Markdown tables, and against its goals."""

from __future__ import annotations

from typing import Final

from ci.model.frozen import Frozen
from lab.model.machine import MachineBench
from lab.report.view import page

MOST_OWN_SHARE: Final = 0.05
"""Own overhead of a fresh candidate's evaluation: the compiler should be what one waits for."""

LEAST_PER_HOUR: Final = 2000.0
"""Fresh candidates an hour on two processors, two at a time: the rate of a search."""

LEAST_SPEEDUP: Final = 1.8
"""Two evaluations side by side on two processors against one after the other."""

LEAST_GIGABYTES: Final = 1.0
"""Bytes through a streaming kernel for each second of one host core, in GB."""

MOST_HIT_SHARE: Final = 0.01
"""Most share of a fresh evaluation: what asking the compile cache for what it has may cost."""

_KINDS: Final = {
    "kernel": "kernel changed",
    "tiling": "tiling changed",
    "built": "built before",
}


class Goal(Frozen):
    """What was aimed at, and what was measured."""

    name: str
    aim: str
    measured: str
    met: bool


def goals(found: MachineBench) -> list[Goal]:
    """The goals of the suite against one run."""
    fresh = [s for s in found.shares if s.kind != "built"]
    seconds = sum(s.seconds for s in fresh)
    each = seconds / sum(s.evaluations for s in fresh)
    own = sum(s.own for s in fresh) / seconds
    slowest = min(stream.gigabytes_per_second for stream in found.streams)
    both = found.side_by_side
    hit = found.cache_hit_seconds / each
    return [
        Goal(
            name="own overhead of a fresh candidate",
            aim=f"under {MOST_OWN_SHARE:.0%}",
            measured=f"{own:.1%}",
            met=own < MOST_OWN_SHARE,
        ),
        Goal(
            name=f"fresh candidates an hour, {both.jobs} at a time",
            aim=f"at least {LEAST_PER_HOUR:,.0f}",
            measured=f"{both.per_hour:,.0f}",
            met=both.per_hour >= LEAST_PER_HOUR,
        ),
        Goal(
            name=f"{both.jobs} side by side",
            aim=f"{LEAST_SPEEDUP} times as fast",
            measured=f"{both.speedup:.2f} times",
            met=both.speedup >= LEAST_SPEEDUP,
        ),
        Goal(
            name="streaming kernel, a host core",
            aim=f"above {LEAST_GIGABYTES:g} GB/s",
            measured=f"{slowest:.2f} GB/s",
            met=slowest > LEAST_GIGABYTES,
        ),
        Goal(
            name="finding a built program",
            aim=f"under {MOST_HIT_SHARE:.0%} of an evaluation",
            measured=f"{hit:.2%} ({1e3 * found.cache_hit_seconds:.2f} ms)",
            met=hit < MOST_HIT_SHARE,
        ),
    ]


def tables(found: MachineBench) -> str:
    """All figures as Markdown."""
    return page("machine.md.j2", found=found, goals=goals(found), kinds=_KINDS)
