"""What is asked of a trial before others are made from it: pure functions of measured trials."""

from __future__ import annotations

from collections.abc import Iterable

from ci.model.trial import MachineWarning, Trial

INSERTED_SLACK = 0.1
"""Inserted waits go with the number of tiles; their share moves by this much with the tails."""


def new_warning(
    warnings: Iterable[MachineWarning], known: Iterable[MachineWarning]
) -> MachineWarning | None:
    """The first warning of a kind that is not among the known ones."""
    kinds = {w.key for w in known}
    return next((w for w in warnings if w.key not in kinds), None)


def unordered(trial: Trial, parent: Trial) -> str:
    """What a kernel step leaves to automatic synchronisation that its parent orders itself.

    A flag or barrier whose place the compiler fills again was needed: dropping it saves nothing in
    truth, and breaks where the operator is built without that option. '' when there is none.
    """
    if trial.candidate.stage != "kernel":
        return ""
    before, after = _inserted(parent), _inserted(trial)
    limit = 1 + INSERTED_SLACK
    shares = (before[0] / before[1], after[0] / after[1])
    # More waits for more tiles is no fault, nor are as many waits for fewer instructions.
    if after[0] <= before[0] * limit or shares[1] <= shares[0] * limit:
        return ""
    return (
        f"it leaves {shares[1]:.2f} waits an instruction to automatic synchronisation, "
        f"its parent {shares[0]:.2f}"
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
