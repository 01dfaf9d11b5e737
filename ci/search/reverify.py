"""Verify an earlier result on a base that moved: the same judgement as at the end of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ci.judge.base import Judge
from ci.model.budget import VERIFICATION, Budget
from ci.model.notice import Notice
from ci.model.operator import Operator
from ci.model.result import Result
from ci.model.settings import OptimizeSettings
from ci.model.trial import Candidate, Outcome
from ci.search.outcome import conclude
from ci.search.run import Run
from ci.system.trial_store import TRIALS_FILE, TrialStore


def reverify(
    operator: Operator,
    evaluator: Judge,
    change: Candidate,
    out: Path,
    on_notice: Callable[[Notice], None] = lambda notice: None,
) -> Result:
    """Measure the operator as it is now and with a change, and give the verdict.

    Resumes from `out`.
    """
    out.mkdir(parents=True, exist_ok=True)
    with TrialStore(out / TRIALS_FILE) as store:
        budget = Budget(VERIFICATION)
        budget.reserve()  # for the final verification
        run = Run(evaluator, budget, store, on_notice)
        run.tell("started", text=f"Verifying an earlier change of {operator.name} again.")
        if run.measure_baseline().outcome is Outcome.OK:
            host_only = set(change.files) <= set(operator.host_sources)
            stage = "tiling" if host_only else "kernel"
            run.evaluate(change.model_copy(update={"stage": stage}))
        settings = OptimizeSettings(budget=VERIFICATION)
        result = conclude(run, operator, settings.model_dump(), [])
        run.tell("finished", text=result.verdict_reason)
        return result
