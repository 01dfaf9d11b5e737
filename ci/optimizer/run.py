"""Algorithm 1 of AscendOptimizer: rounds of tiling and kernel steps under one budget."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from pathlib import Path

from ci.budget import Budget
from ci.errors import InputError
from ci.evaluate import Evaluator
from ci.operator import Operator
from ci.optimizer.event import Event
from ci.optimizer.outcome import conclude
from ci.optimizer.search import Evaluates, Search
from ci.optimizer.settings import OptimizeSettings
from ci.optimizer.stage_kernel import rewrite_kernel
from ci.optimizer.stage_tiling import evolve_tiling
from ci.other_shapes import OtherShapes
from ci.proposer.base import Proposer
from ci.result import Result, UsedTuple
from ci.trial import Candidate, Outcome
from ci.trial_store import TrialStore
from ci.workload import Workload
from experience.bank import Bank

TRIALS_FILE = "trials.duckdb"


def optimize(
    operator: Operator,
    workload: Workload,
    evaluator: Evaluates,
    proposer: Proposer,
    bank: Bank | None,
    settings: OptimizeSettings,
    out: Path,
    on_event: Callable[[Event], None] = lambda event: None,
    *,
    elsewhere: Callable[[Candidate], str] | None = None,
) -> Result:
    """Search for a faster pair ⟨T, K⟩ and conclude with a verdict. Resumable from `out`.

    `elsewhere` says what a candidate does wrong outside the workload; by default `OtherShapes` on
    the evaluator's own backend. Raises InputError when the budget is too small or `out` holds
    trials of another run.
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
    store = TrialStore(path)
    store.identify(_identity(operator, workload, proposer, settings))
    wall = settings.wall_minutes * 60 or math.inf
    budget = Budget(settings.budget, wall_seconds=wall)
    budget.reserve()  # for the final verification
    if elsewhere is None and settings.other_shapes and isinstance(evaluator, Evaluator):
        elsewhere = OtherShapes(operator, workload, evaluator.backend).fault
    search = Search(evaluator, budget, store, on_event, elsewhere or _nothing_wrong)
    search.tell("started", text=f"Optimizing {operator.name}.")
    used: list[UsedTuple] = []
    if search.measure_baseline().outcome is Outcome.OK:
        used = _rounds(search, operator, workload, proposer, bank, settings)
    result = conclude(search, operator, workload, proposer, settings, used)
    search.tell("finished", text=result.verdict_reason)
    return result


def _rounds(
    search: Search,
    operator: Operator,
    workload: Workload,
    proposer: Proposer,
    bank: Bank | None,
    settings: OptimizeSettings,
) -> list[UsedTuple]:
    """Rounds r = 1 … R; each inherits the best pair of the one before."""
    template = proposer.synthesize(operator, workload)
    used: list[UsedTuple] = []
    for number in range(1, settings.rounds + 1):
        search.round = number
        before = search.best.number
        tiling_left = settings.stage != "kernel" and evolve_tiling(
            search, operator, proposer, template, settings.tiling_steps, settings.seed
        )
        kernel_left = False
        if settings.stage != "tiling":
            kernel_left, more = rewrite_kernel(
                search,
                operator,
                proposer,
                bank,
                settings.kernel_steps,
                settings.top_k,
                settings.seed,
            )
            used += more
        if search.budget.left == 0:
            search.tell("note", text="The budget is spent.")
            break
        if not tiling_left and not kernel_left and search.best.number == before:
            search.tell("note", text="Nothing is left to try in either stage.")
            break
    return used


def _nothing_wrong(candidate: Candidate) -> str:
    return ""


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
        "settings": settings.model_dump(exclude={"resume", "wall_minutes"}),
    }
