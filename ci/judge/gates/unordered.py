"""Unordered: a kernel step leaves no more to automatic synchronisation than its parent.

A flag or barrier whose place the compiler fills again was needed: dropping it saves nothing in
truth, and breaks where the operator is built without that option.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.model.errors import TrialFailure
from ci.model.trial import Outcome, Trial

INSERTED_SLACK = 0.1
"""Inserted waits go with the number of tiles; their share moves by this much with the tails."""


class UnorderedGate(Gate):
    """Counts the waits that automatic synchronisation inserted into trial and parent."""

    name = "unordered"
    phase = "admit"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses more waits between pipes that are also more for each instruction, and such waits
        within a pipe where fewer barriers than the parent's run.

        More waits for more tiles is no fault, nor are as many waits for fewer instructions, nor
        instructions that depend on others of their pipe: a source need not say that.
        """
        trial, parent = subject.trial, subject.parent
        assert trial and parent
        if trial.candidate.stage not in ("kernel", "joint"):
            return None
        now, before = _counted(trial), _counted(parent)
        refusal = self._more("between pipes", now.between, before.between, now.work, before.work)
        if refusal is None and now.barriers < before.barriers:
            refusal = self._more("within a pipe", now.within, before.within, now.work, before.work)
        return refusal

    def _more(
        self, where: str, waits_now: int, waits: int, work_now: int, work: int
    ) -> TrialFailure | None:
        limit, share, share_now = 1 + INSERTED_SLACK, waits / work, waits_now / work_now
        if waits_now <= waits * limit or share_now <= share * limit:
            return None
        return self.refuse(
            Outcome.UNFIT,
            f"It leaves {waits_now} waits {where} to automatic synchronisation, its parent"
            f" {waits}.",
            evidence=f"{share_now:.3g} an instruction, {share:.3g} in the parent",
        )


@dataclass(frozen=True)
class _Counted:
    between: int
    """Waits of one pipe for another that automatic synchronisation inserted."""
    within: int
    """Barriers that are for earlier instructions of the same pipe."""
    barriers: int
    """Barriers that the source has, as often as they ran."""
    work: int
    """Copy and vector instructions."""


def _counted(trial: Trial) -> _Counted:
    pipes = [c.pipes for c in trial.measurement.cases] if trial.measurement else []
    ran = Counter[str]()
    for one in pipes:
        ran.update(one.instructions)
    within = sum(p.inserted_barriers for p in pipes)
    return _Counted(
        between=sum(p.inserted_waits for p in pipes) - within,
        within=within,
        barriers=ran["pipe_barrier"],
        work=max(1, sum(n for name, n in ran.items() if name.startswith(("v", "copy")))),
    )
