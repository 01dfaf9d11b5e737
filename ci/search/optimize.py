"""One optimization from beginning to end: search by a strategy under one budget, then conclude."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from ci.judge.roofline import NEAR, left_to_win
from ci.model.amount import amount
from ci.model.errors import InputError, ModelUnavailable
from ci.model.notice import Notice
from ci.model.result import Result
from ci.model.settings import OptimizeSettings
from ci.model.trial import Outcome, Trial
from ci.proposer.base import Proposer, RunContext
from ci.proposer.rules.proposer import rules_proposer
from ci.proposer.sources import left_alone
from ci.search.base import Strategy
from ci.search.ending import BudgetSpent
from ci.search.lessons import lessons
from ci.search.outcome import conclude
from ci.search.run import Run, was_paid
from ci.search.steps import Steps
from ci.search.strategies import make_strategy
from ci.search.task import Task
from ci.system.trial_store import TRIALS_FILE, TrialStore
from ci.tiling.synthesize import cut_of
from experience.bank.distill import Provenance

_LIMITS = {"resume", "wall_minutes", "max_tokens", "max_cost"}
"""Settings that may differ when a run is resumed."""


def optimize(
    task: Task,
    settings: OptimizeSettings,
    out: Path,
    on_notice: Callable[[Notice], None] = lambda notice: None,
    *,
    strategy: Strategy | None = None,
) -> Result:
    """Search for a faster pair ⟨T, K⟩ and conclude with a verdict. Resumable from `out`.

    `strategy` is the default one if none is given. A run whose model becomes unavailable ends with
    what it found. Raises InputError when the budget is too small or `out` holds trials of
    another run.
    """
    if settings.budget < 3:
        raise InputError(
            "A budget below 3 evaluations cannot optimize: one is for the baseline, one for the "
            "final verification; give --budget 3 or more."
        )
    out.mkdir(parents=True, exist_ok=True)
    path = out / TRIALS_FILE
    if path.exists() and not settings.resume:
        raise InputError(f"{path} holds an earlier run; give --resume to go on, or another --out.")
    strategy = strategy or make_strategy()
    chosen = {"strategy": strategy.name, **strategy.options.model_dump()}
    operator, proposer = task.operator, task.proposer
    with TrialStore(path) as store:
        store.identify(
            {**task.identity(), "settings": settings.model_dump(exclude=_LIMITS) | chosen}
        )
        budget = settings.grant(settings.budget, settings.wall_minutes * 60 or math.inf)
        budget.reserve()  # for the final verification
        without = () if settings.other_shapes else ("other_shapes",)
        run = Run(task.evaluator, budget, store, on_notice, without)
        run.cut = cut_of(operator, task.workload)
        proposer.models.begin(RunContext(path, budget, run.upcoming, task.workload, task.device))
        run.tell("started", text=f"Optimizing {operator.name}.{_who(proposer)}")
        if left := left_alone(operator):
            run.note(left)
        steps = Steps(run, task, settings)
        stopped = ""
        baseline = run.measure_baseline()
        done = _done(baseline)
        if not done and baseline.outcome is Outcome.OK:
            try:
                strategy.search(run, steps)
            except BudgetSpent:
                run.note("The budget is spent.")
            except ModelUnavailable as problem:
                stopped = str(problem)
                run.note(f"{stopped} The run ends with what was found.")
            else:
                spare = amount(budget.left, "evaluation")
                run.note(f"The search ends with {spare} left: it has no more to try.")
        result = conclude(run, operator, settings.model_dump() | chosen, steps.used, done)
        if task.bank is not None and settings.learn:
            source = Provenance(commit=result.base_commit, origin=f"run {result.run}")
            # A model that went away is not waited for once more at the end.
            teller = rules_proposer() if stopped else proposer
            task.bank.add_all(lessons(operator, run.history, teller, source))
        if any(trial.predicted is not None for trial in run.history):
            run.note(screening(run.history))
        run.tell("finished", text=result.verdict_reason)
        models, currency = proposer.models.use()
        return result.model_copy(
            update={
                "stopped": stopped,
                "models": models,
                "currency": currency,
                "budget": budget.use(),
            }
        )


def _done(baseline: Trial) -> str:
    """Why there is nothing to search for, in simulated time, which the floor is of; '' if there
    is."""
    measured = baseline.measurement
    if measured is None or not measured.fingerprint.simulated:
        return ""
    most = left_to_win(measured)
    if most is None or most > NEAR:
        return ""
    return (
        "No kernel that reads and writes the same bytes can be more than "
        f"{most:.2f} times as fast in every state that a launch may start from: nothing is left to "
        "win."
    )


def screening(trials: Sequence[Trial]) -> str:
    """A sentence that says how many of the evaluations needed no device."""
    made = [trial for trial in trials if was_paid(trial)]
    spared = sum(trial.screened for trial in made)
    return (
        f"Of {amount(len(made), 'evaluation')} the simulator decided {spared}; a device made"
        f" {len(made) - spared}."
    )


def _who(proposer: Proposer) -> str:
    """Who fills the roles of a model, as a sentence to follow another; '' when all are rules."""
    roles = proposer.models.roles()
    by = {name: [r for r, n in roles.items() if n == name] for name in roles.values()}
    told = "; ".join(f"{name}: {', '.join(mine)}" for name, mine in by.items())
    return f" Roles by {told}." if told else ""
