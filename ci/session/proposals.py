"""Candidates that the rules propose for a program, without a search."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ci.model.trial import Outcome

if TYPE_CHECKING:
    from ci.model.trial import Candidate, Trial
    from ci.session.session import Session

STAGES: Final = ("kernel", "tiling", "joint")


def propose(session: Session, best: Trial, stage: str, count: int) -> list[Candidate]:
    """Return at most `count` candidates of a stage that rules make of `best`, the first first.

    Nothing is built. `best` is a measured trial of the session. Each further candidate is made as
    if those before it had been refused.
    """
    from ci.model.trial import Trial
    from ci.proposer.base import ProposalRejected, Step
    from ci.proposer.rules.proposer import rules_proposer

    proposer = rules_proposer()
    diagnosis = proposer.diagnose(session.operator, best)
    device = session.evaluator.fingerprint().device
    ask: Callable[[Step], Candidate | None]
    if stage == "kernel":
        ask = lambda step: proposer.rewrite(step, diagnosis, [])  # noqa: E731
    elif stage == "joint":
        ask = lambda step: proposer.rewrite_both(step, diagnosis, [])  # noqa: E731
    else:
        template = proposer.synthesize(session.operator, session.workload, device)
        ask = lambda step: proposer.mutate(step, template)  # noqa: E731
    history: list[Trial] = [best]
    found: list[Candidate] = []
    while len(found) < count and len(history) < 4 * count:
        try:
            candidate = ask(Step(session.operator, best, history))
        except ProposalRejected as refused:
            candidate, usable = refused.candidate, False
        else:
            usable = True
        if candidate is None:
            break
        if usable:
            found.append(candidate)
        history.append(Trial(number=len(history), candidate=candidate, outcome=Outcome.REJECTED))
    return found
