"""Algorithm 1 of AscendOptimizer: rounds of tiling and kernel steps under one budget."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from pathlib import Path

from ci.judge.evaluate import Evaluator
from ci.model.comparison import STEP_EFFECT
from ci.model.errors import InputError, ModelUnavailable
from ci.model.notice import Notice
from ci.model.operator import Operator
from ci.model.result import Result, UsedTuple
from ci.model.settings import OptimizeSettings
from ci.model.trial import Outcome
from ci.model.workload import Workload
from ci.proposer.base import Proposer, RunContext, Step
from ci.proposer.rules.proposer import rules_proposer
from ci.search.lessons import lessons
from ci.search.outcome import conclude
from ci.search.search import Evaluates, Search
from ci.search.stage_kernel import rewrite_kernel
from ci.search.stage_tiling import evolve_tiling
from ci.system.trial_store import TRIALS_FILE, TrialStore
from ci.tiling.synthesize import synthesize
from ci.tiling.template import TilingTemplate
from experience.bank.bank import Bank
from experience.bank.distill import Provenance


def optimize(
    operator: Operator,
    workload: Workload,
    evaluator: Evaluates,
    proposer: Proposer,
    bank: Bank | None,
    settings: OptimizeSettings,
    out: Path,
    on_notice: Callable[[Notice], None] = lambda notice: None,
) -> Result:
    """Search for a faster pair ⟨T, K⟩ and conclude with a verdict. Resumable from `out`.

    A run whose model becomes unavailable ends with what it found.
    Raises InputError when the budget is too small or `out` holds trials of another run.
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
    with TrialStore(path) as store:
        store.identify(_identity(operator, workload, proposer, settings))
        wall = settings.wall_minutes * 60 or math.inf
        budget = settings.grant(settings.budget, wall)
        budget.reserve()  # for the final verification
        without = () if settings.other_shapes else ("other_shapes",)
        search = Search(evaluator, budget, store, on_notice, without)
        device = evaluator.backend.fingerprint().device if isinstance(evaluator, Evaluator) else ""
        proposer.models.begin(
            RunContext(path, budget, lambda: len(search.history), workload, device)
        )
        search.tell("started", text=f"Optimizing {operator.name}.{_who(proposer)}")
        used: list[UsedTuple] = []
        stopped = ""
        if search.measure_baseline().outcome is Outcome.OK:
            try:
                _rounds(search, operator, workload, proposer, bank, settings, used)
            except ModelUnavailable as problem:
                stopped = str(problem)
                search.tell("note", text=f"{stopped} The run ends with what was found.")
        result = conclude(search, operator, settings, used)
        if bank is not None and settings.learn:
            source = Provenance(commit=result.base_commit, origin=f"run {result.run}")
            # A model that went away is not waited for once more at the end.
            teller = rules_proposer() if stopped else proposer
            bank.add_all(lessons(operator, search.history, teller, source))
        search.tell("finished", text=result.verdict_reason)
        models, currency = proposer.models.use()
        return result.model_copy(
            update={
                "stopped": stopped,
                "models": models,
                "currency": currency,
                "budget": budget.use(),
            }
        )


def _rounds(
    search: Search,
    operator: Operator,
    workload: Workload,
    proposer: Proposer,
    bank: Bank | None,
    settings: OptimizeSettings,
    used: list[UsedTuple],
) -> None:
    """Rounds r = 1 … R; each inherits the best pair of the one before."""
    template = (
        None if settings.stage == "kernel" else _template(search, operator, workload, proposer)
    )
    for number in range(1, settings.rounds + 1):
        search.round = number
        before = search.best.number
        tiling_left = template is not None and evolve_tiling(
            search, operator, proposer, template, settings.tiling_steps, settings.seed
        )
        kernel_left = False
        if settings.stage != "tiling":
            kernel_left = rewrite_kernel(
                search,
                operator,
                proposer,
                bank,
                settings.kernel_steps,
                settings.top_k,
                settings.seed,
                used,
            )
        if search.budget.left == 0:
            search.tell("note", text="The budget is spent.")
            break
        if not tiling_left and not kernel_left and search.best.number == before:
            search.tell("note", text="Nothing is left to try in either stage.")
            break


def _template(
    search: Search, operator: Operator, workload: Workload, proposer: Proposer
) -> TilingTemplate:
    """The proposer's template; the one that rules make when its base program does not hold up."""
    device = Step(operator, search.best, search.history).device
    template = proposer.synthesize(operator, workload, device)
    if template.base is None:
        return template
    search.stage = "tiling"
    trial = search.attempt(template.base, least=1 - STEP_EFFECT)
    if trial is not None and search.won(trial):
        return template
    search.tell("note", text="The base tiling program does not hold up: rules make it.")
    return synthesize(operator)


def _who(proposer: Proposer) -> str:
    """Who fills the roles of a model, as a sentence to follow another; '' when all are rules."""
    roles = proposer.models.roles()
    by = {name: [r for r, n in roles.items() if n == name] for name in roles.values()}
    told = "; ".join(f"{name}: {', '.join(mine)}" for name, mine in by.items())
    return f" Roles by {told}." if told else ""


def _identity(
    operator: Operator, workload: Workload, proposer: Proposer, settings: OptimizeSettings
) -> dict[str, object]:
    """What must be equal for two runs to give the same trials."""
    sources = hashlib.sha256()
    for path, text in sorted(operator.texts().items()):
        sources.update(path.encode() + b"\0" + text.encode() + b"\0")
    return {
        "operator": operator.name,
        "sources": sources.hexdigest(),
        "workload": hashlib.sha256(
            workload.model_dump_json(exclude={"folder"}).encode()
        ).hexdigest(),
        "proposer": proposer.name,
        **({"models": proposer.models.roles()} if proposer.models.roles() else {}),
        "settings": settings.model_dump(
            exclude={"resume", "wall_minutes", "max_tokens", "max_cost"}
        ),
    }
