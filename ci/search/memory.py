"""What a run has learnt so far, as experience for its own kernel steps (AccelOpt's memory).

Pairs of a slower and a faster kernel. A step that did not help is there too, inverted: its pair
leads from the rewrite back to the kernel as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from ci.model.trial import Trial
from ci.search.lessons import NOISE_FLOOR, lessons
from ci.search.task import Task
from experience.bank.distill import Provenance
from experience.bank.retrieve import PRIOR, Retrieved
from experience.bank.tuple import ExperienceTuple


def summarised(task: Task, trials: Sequence[Trial], most: int) -> tuple[ExperienceTuple, ...]:
    """The pairs of these trials with the largest effect either way, at most `most` of them.

    Both sides of a pair ran, and differ beyond the noise floor. The parents of the trials must be
    among them. The words are the proposer's.
    """
    found = lessons(task.operator, trials, task.proposer, Provenance(origin="this run"))
    distinct = {one.id: one for one in found if 1 + NOISE_FLOOR < one.evidence.speedup < inf}
    ordered = sorted(distinct.values(), key=lambda t: (-t.evidence.speedup, t.id))
    return tuple(ordered[:most])


def recalled(pairs: Sequence[ExperienceTuple]) -> tuple[Retrieved, ...]:
    """The pairs as what a kernel step is offered, the largest effect first.

    A motif is as reliable as the pairs say that are about it.
    """

    def reliability(motif: str) -> float:
        held = [one.direction != "negative" for one in pairs if one.motif_id == motif]
        return (sum(held) + PRIOR) / (len(held) + 2 * PRIOR)

    return tuple(
        Retrieved(
            tuple=one,
            similarity=1.0,
            score=one.evidence.speedup,
            why="learnt in this run",
            reliability=reliability(one.motif_id),
            effect=one.evidence.speedup,
        )
        for one in sorted(pairs, key=lambda t: (-t.evidence.speedup, t.id))
    )
