"""Unordered: a kernel step leaves no more to automatic synchronisation than its parent.

A flag or barrier whose place the compiler fills again was needed: dropping it saves nothing in
truth, and breaks where the operator is built without that option.
"""

from __future__ import annotations

from ci.judge.gates.base import Gate
from ci.judge.subject import Subject
from ci.model.errors import TrialFailure
from ci.model.trial import Outcome, Trial

INSERTED_SLACK = 0.1
"""Inserted waits go with the number of tiles; their share moves by this much with the tails."""


class UnorderedGate(Gate):
    """Counts the waits that automatic synchronisation inserted into trial and parent."""

    name = "unordered"
    phase = "admit"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses more waits that are also more for each instruction.

        More waits for more tiles is no fault, nor are as many waits for fewer instructions.
        """
        trial, parent = subject.trial, subject.parent
        assert trial and parent
        if trial.candidate.stage != "kernel":
            return None
        (waits, work), (waits_now, work_now) = _inserted(parent), _inserted(trial)
        limit, share, share_now = 1 + INSERTED_SLACK, waits / work, waits_now / work_now
        if waits_now <= waits * limit or share_now <= share * limit:
            return None
        return self.refuse(
            Outcome.UNFIT,
            f"It leaves {share_now:.2f} waits an instruction to automatic synchronisation, its "
            f"parent {share:.2f}.",
            evidence=f"{waits_now} waits inserted, {waits} in the parent",
        )


def _inserted(trial: Trial) -> tuple[int, int]:
    """Waits that automatic synchronisation inserted; copy and vector instructions."""
    if trial.measurement is None:
        return 0, 1
    pipes = [c.pipes for c in trial.measurement.cases]
    work = sum(
        n for p in pipes for name, n in p.instructions.items() if name.startswith(("v", "copy"))
    )
    return sum(p.inserted_waits for p in pipes), max(1, work)
