"""Stage I of Algorithm 1: evolve the host tiling T while the kernel K stays as it is."""

from __future__ import annotations

from ci.model.operator import Operator
from ci.proposer.base import ProposalRejected, Proposer, Step
from ci.search.search import Search
from ci.tiling.template import TilingTemplate


def evolve_tiling(
    search: Search,
    operator: Operator,
    proposer: Proposer,
    template: TilingTemplate,
    steps: int,
    seed: int,
) -> bool:
    """Up to `steps` tiling candidates; False when the proposer has nothing left to suggest.

    A candidate that touches the kernel, or a line outside the template's markers, is recorded
    as rejected without being evaluated.
    """
    search.stage = "tiling"
    for _ in range(steps):
        try:
            candidate = proposer.mutate(Step(operator, search.best, search.history, seed), template)
        except ProposalRejected as problem:
            search.refuse(problem.candidate, str(problem))
            continue
        if candidate is None:
            search.tell("note", text="No tiling change is left to try for this kernel.")
            return False
        own = set(template.sources)
        changed = {p: t for p, t in candidate.files.items() if p in own}
        others = {p: t for p, t in candidate.files.items() if p not in own}
        kept = {p: t for p, t in search.best.candidate.files.items() if p not in own}
        if others != kept:
            search.refuse(candidate, "A tiling step must leave the kernel as it is.")
        elif not template.admits(changed):
            search.refuse(candidate, "A tiling step must stay inside the EVOLVE-BLOCK markers.")
        elif search.attempt(candidate) is None:
            return True
    return True
