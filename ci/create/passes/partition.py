"""Layout and partition: the regions of a phase, and whether a core can do a unit by itself."""

from __future__ import annotations

from ci.create.passes.base import Plan, Region, broken


def partition(plan: Plan) -> None:
    """Fill `plan.regions`. Checks that what leaves a core belongs to its units alone."""
    phase = plan.phase
    if plan.resident:
        plan.regions = [Region(phase.resident, loops=False)]
    else:
        plan.regions = [Region(phase.prelude, loops=False)] if phase.prelude else []
        for sweep in phase.sweeps:
            if sweep.body:
                back = any("reverse" in s.op for s in sweep.body)
                plan.regions.append(Region(sweep.body, bool(phase.sequential), back))
            if sweep.settle:
                plan.regions.append(Region(sweep.settle, loops=False))
    for statement in phase.statements:
        if statement.op != "store" or statement.tensor is None:
            continue
        missing = [g for g in phase.kept if g not in statement.tensor.groups]
        if missing:
            raise broken(
                plan,
                f"several cores would write output '{statement.tensor.memory}', which lacks the"
                f" groups {', '.join(missing)} that the cores share.",
            )
