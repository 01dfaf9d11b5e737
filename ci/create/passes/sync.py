"""Pipelining and synchronisation: a barrier where a vector instruction needs an earlier result.

Between the copies and the vector unit the queues order what there is to order.
"""

from __future__ import annotations

from ci.create.passes.base import Plan, Region, Step

BARRIER = "PipeBarrier<PIPE_V>();"


def sync(plan: Plan) -> None:
    """Flatten each region to steps with barriers between those that depend on each other."""
    for name, steps in plan.once.items():
        plan.once[name] = _ordered(Region((), loops=False), steps)
    for region in plan.regions:
        rest = [
            step
            for place in range(len(region.statements))
            for step in (*region.at.get(place, []), *region.done.get(place, []))
        ]
        region.before = _ordered(region, region.before)
        region.steps = _ordered(region, rest)
        region.after = _ordered(region, region.after)


def _ordered(region: Region, steps: list[Step]) -> list[Step]:
    """The steps with barriers; what ran before the first one may still be running."""
    found: list[Step] = []
    read: set[str] = set()
    written: set[str] | None = None  # None: anything
    for step in steps:
        reads = {region.aliases.get(n, n) for n in step.reads}
        writes = {region.aliases.get(n, n) for n in step.writes}
        touches = bool(reads or writes)
        clash = touches and (
            written is None or bool(reads & written or writes & written or writes & read)
        )
        if clash:
            found.append(Step([BARRIER]))
            read, written = set(), set()
        found.append(step)
        if touches:
            written = (written or set()) | writes
            read |= reads
    return found
