"""Verify an earlier result on a base that moved: the same judgement as at the end of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ci.model.budget import Budget
from ci.model.event import Event
from ci.model.operator import Operator
from ci.model.result import Result
from ci.model.settings import OptimizeSettings
from ci.model.trial import Candidate, Outcome
from ci.search.outcome import conclude
from ci.search.run import TRIALS_FILE
from ci.search.search import Evaluates, Search
from experience.bank.trial_store import TrialStore

# The baseline, the change, and the final verification.
EVALUATIONS = 3


def reverify(
    operator: Operator,
    evaluator: Evaluates,
    files: dict[str, str],
    rationale: str,
    out: Path,
    on_event: Callable[[Event], None] = lambda event: None,
    *,
    elsewhere: Callable[[Candidate], str] = lambda candidate: "",
) -> Result:
    """Measure the operator as it is now and with the texts `files`, and give the verdict.

    `rationale` says why the change was made; `elsewhere` as in `optimize`. Resumes from `out`.
    """
    out.mkdir(parents=True, exist_ok=True)
    store = TrialStore(out / TRIALS_FILE)
    budget = Budget(EVALUATIONS)
    budget.reserve()  # for the final verification
    search = Search(evaluator, budget, store, on_event, elsewhere)
    search.tell("started", text=f"Verifying an earlier change of {operator.name} again.")
    if search.measure_baseline().outcome is Outcome.OK:
        search.stage = "kernel"
        search.attempt(
            Candidate(files=files, stage="kernel", proposer="earlier run", rationale=rationale)
        )
    settings = OptimizeSettings(budget=EVALUATIONS)
    result = conclude(search, operator, settings, [])
    search.tell("finished", text=result.verdict_reason)
    return result
