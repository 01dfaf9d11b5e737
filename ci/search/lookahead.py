"""Keeps a pool's idle workers busy: what a search will ask for next if a step gains nothing.

Most steps gain nothing, and then the next proposal follows from what is known now. It is begun
before the step at hand has ended; if that one does gain, a worker did something in vain that would
have done nothing. No trial and no budget hangs on it.
"""

from __future__ import annotations

from collections.abc import Callable

from ci.model.trial import Candidate, Trial
from ci.proposer.base import ProposalRejected, Step
from ci.search.run import Run
from ci.search.task import Task

Propose = Callable[[Step], Candidate | None]


def look_ahead(
    run: Run, task: Task, seed: int, parent: Trial, first: Candidate, propose: Propose
) -> None:
    """Begin `first`, which is asked for next, and what `propose` would make of `parent` after it.

    Nothing for an evaluator in this process, and where proposals cost something.
    """
    judge = task.evaluator
    if judge.size < 2 or task.proposer.models.roles():
        return
    if run.known(first) is None and not run.is_recorded(first):
        judge.begin(first)
    history, candidate = list(run.history), first
    for _ in range(judge.size - 1):
        history.append(_gaining_nothing(parent, candidate, len(history)))
        try:
            proposed = propose(Step(task.operator, parent, history, seed))
        except ProposalRejected:
            return
        if proposed is None:
            return
        candidate = proposed
        if judge.begun >= judge.size:
            return
        if run.known(candidate) is None and not run.is_recorded(candidate):
            judge.begin(candidate)


def _gaining_nothing(parent: Trial, candidate: Candidate, number: int) -> Trial:
    """The trial of a candidate that takes as long as its parent."""
    return parent.model_copy(update={"number": number, "candidate": candidate})
