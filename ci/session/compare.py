"""Two versions of an operator on one workload: what an author's change does to its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ci.model.measured_change import ComparedCase
from ci.model.trial import Candidate, MachineWarning, Trial

if TYPE_CHECKING:
    from ci.model.trial import CaseMeasurement
    from ci.session.session import Session


def compare(
    before: Session, after: Session
) -> tuple[tuple[ComparedCase, ...], tuple[str, ...], tuple[str, ...]]:
    """Every case of the workload on both, the faults that are new, and those that are gone.

    Where the workload has no golden function, the right results are those of `before`. Raises
    InputError and EnvironmentProblem as an evaluation does.
    """
    from ci.judge.evaluate import Evaluator

    first, second = before.evaluator, after.evaluator
    if isinstance(first, Evaluator) and isinstance(second, Evaluator):
        second.references.answered_by = first.references
    old = before.evaluate(Candidate(), widened=True)
    new = after.evaluate(Candidate(), widened=True)
    cases = tuple(_case(case.name, old, new) for case in before.workload.cases)
    return cases, _beyond(new, old), _beyond(old, new)


def _case(name: str, old: Trial, new: Trial) -> ComparedCase:
    before, after = _measured(name, old), _measured(name, new)
    low, high = _range(before, after) if before and after else (1.0, 1.0)
    return ComparedCase(
        case=name,
        before_us=before.median_us if before else None,
        after_us=after.median_us if after else None,
        low=low,
        high=high,
        before_fault=_fault(name, old),
        after_fault=_fault(name, new),
    )


def _measured(name: str, trial: Trial) -> CaseMeasurement | None:
    cases = trial.measurement.cases if trial.measurement else ()
    return next((c for c in cases if c.case == name), None)


def _range(before: CaseMeasurement, after: CaseMeasurement) -> tuple[float, float]:
    """The least and the largest speedup: over the samples, and over the ensemble's members."""
    ratios = [before.low_us / after.high_us, before.high_us / after.low_us]
    ratios += [
        before.members_us[m] / after.members_us[m]
        for m in before.members_us.keys() & after.members_us.keys()
    ]
    return min(ratios), max(ratios)


def _fault(name: str, trial: Trial) -> str:
    """Why a case does not pass, '' when it does or was not launched because another failed."""
    found = next((c for c in trial.cases if c.case == name), None)
    if found is not None:
        return found.refusal.sentence if found.refusal else ""
    refusal = trial.refusal
    return refusal.sentence if refusal and not trial.cases else ""


def _beyond(one: Trial, other: Trial) -> tuple[str, ...]:
    """The faults that the machine saw in `one` alone, a sentence each."""
    known = {w.key for w in other.warnings}
    found: dict[tuple[str, str, str], MachineWarning] = {}
    for warning in one.warnings:
        if warning.is_fault and warning.key not in known:
            found.setdefault(warning.key, warning)
    return tuple(w.message for w in found.values())
