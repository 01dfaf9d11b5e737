"""Operators made of golden functions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ci.model.created import Judged

if TYPE_CHECKING:
    from ci.create.request import Asked
    from ci.model.created import Created, CreateSettings


def asked(golden: str, shapes: str, name: str = "") -> Asked:
    """Return the request that a golden function's texts and shapes make; nothing is run.

    Raises InputError with a sentence that says what they lack.
    """
    from ci.create.request import asked

    return asked(golden, shapes, name)


def create_operator(
    golden: str, settings: CreateSettings, say: Callable[[str], None] = lambda said: None
) -> Created:
    """Make, write and verify the operator of a golden function; raises InputError with what stops
    it, and leaves nothing then."""
    from ci.create.create import create

    return create(golden, settings, say)


def judged(folder: Path, device: str) -> Judged:
    """A made operator on the cases of its workload once more, over the machine's uncertainty."""
    from ci.judge.roofline import rooflines
    from ci.model.errors import InputError
    from ci.model.settings import EvaluationSetup
    from ci.model.trial import Candidate
    from ci.session.session import open_session
    from rules.tolerances import default_tolerances

    session = open_session(folder, EvaluationSetup(device=device))
    trial = session.evaluate(Candidate(), widened=True)
    if trial.measurement is None:
        words = trial.refusal.message if trial.refusal else trial.outcome.value
        raise InputError(f"The made operator does not pass its own workload: {words}")
    workload = session.workload
    entries = (e for case in workload.cases for e in case.inputs)
    tensors = (t for e in entries for t in (e if isinstance(e, tuple) else (e,)))
    dtypes = dict.fromkeys(t.dtype for t in tensors)
    known = default_tolerances() | workload.tolerances
    return Judged(
        fingerprint=trial.measurement.fingerprint,
        cases=trial.measurement.cases,
        floors_us={r.case: r.floor_us for r in rooflines(trial.measurement)},
        tolerances={d: known[d] for d in dtypes if d in known},
    )
