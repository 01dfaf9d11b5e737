"""One step from a trial: ask the proposer, hold its answer to the stage's rules, evaluate it."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from pydantic import TypeAdapter

from ci.model.comparison import STEP_EFFECT
from ci.model.diagnosis import Diagnosis
from ci.model.result import UsedTuple
from ci.model.settings import OptimizeSettings
from ci.model.trial import Candidate, Outcome, Trial
from ci.proposer.base import ProposalRejected, Step
from ci.proposer.rules.diagnosing import diagnose_by_rules
from ci.search.ending import MOST_IDLE, BudgetSpent
from ci.search.lookahead import look_ahead
from ci.search.run import Run
from ci.search.task import Task
from ci.tiling.synthesize import cut_of, follow, synthesize
from ci.tiling.template import TilingTemplate
from experience.bank.retrieve import Query, Retrieved

Stage: TypeAlias = Literal["tiling", "kernel", "joint"]
STAGES: Final[tuple[Stage, ...]] = ("tiling", "kernel")
"""The stages of Algorithm 1; steps of both at once are a strategy's choice (`Steps.joint`)."""

_RETRIEVED = TypeAdapter(tuple[Retrieved, ...])


class Steps:
    """The steps that a strategy can take, in the stages that the run may change."""

    def __init__(self, run: Run, task: Task, settings: OptimizeSettings) -> None:
        self.stages: tuple[Stage, ...] = STAGES if settings.stage == "both" else (settings.stage,)
        self.joint = settings.stage == "both"
        """Whether steps may change host tiling and kernel in one candidate."""
        self.seed = settings.seed
        self.used: list[UsedTuple] = []
        """Experience that steps were offered and applied, in their order."""
        self.memory: tuple[Retrieved, ...] = ()
        """What kernel steps are offered before the bank's; the strategy's own."""
        self.operator = task.operator
        self.task = task
        self._run = run
        self._top_k = settings.top_k
        self._template: TilingTemplate | None = None
        self._idle: dict[Stage, int] = {}

    def start(self) -> Trial:
        """The trial that a search starts from; called once, before the first step.

        The baseline, or the base program of the proposer's template when that holds up.
        """
        run, task = self._run, self.task
        if "tiling" not in self.stages:
            return run.baseline
        self._template = task.proposer.synthesize(task.operator, task.workload, task.device)
        if self._template.base is None:
            return run.baseline
        trial = run.evaluate(self._template.base, least=1 - STEP_EFFECT)
        same = trial.cached and trial.outcome is Outcome.OK  # it compiles to what is there
        if same or run.gained(trial, least=1 - STEP_EFFECT):
            return trial
        run.note("The base tiling program does not hold up: rules make it.")
        cut = cut_of(task.operator, task.workload)
        self._template = synthesize(task.operator, task.device, cut=cut)
        return run.baseline

    def take(self, stage: Stage, parent: Trial, *, least: float = 1 + STEP_EFFECT) -> Trial | None:
        """The trial of one proposal made from `parent`; None when nothing is left to propose.

        One that gains by `least` must also be admitted by the judge. A proposal that breaks a
        rule of its stage is recorded as rejected without being evaluated. Raises `BudgetSpent`
        before anything is proposed that cannot be evaluated.
        """
        if self._run.budget.left == 0:
            raise BudgetSpent
        if self._idle.get(stage, 0) == MOST_IDLE:
            return None
        spent = self._run.budget.use().evaluations
        try:
            step = {"tiling": self._tiling, "kernel": self._kernel, "joint": self._joint}[stage]
            trial = step(parent, least)
        except ProposalRejected as problem:
            trial = self._run.refuse(problem.candidate, str(problem))
        free = self._run.budget.use().evaluations == spent
        self._idle[stage] = self._idle.get(stage, 0) + 1 if free else 0
        return trial

    def _tiling(self, parent: Trial, least: float) -> Trial | None:
        run, template = self._run, self._template
        assert template is not None, "a search begins with start()"
        diagnosis = diagnose_by_rules(self.operator, parent)
        retrieved = self._retrieved("tiling", parent, diagnosis)
        proposer = self.task.proposer

        def propose(step: Step) -> Candidate | None:
            return proposer.mutate(step, template, retrieved)

        candidate = propose(self._from(parent))
        if candidate is None:
            return None
        known = follow(self.operator, template, run.history)
        at = known.get(parent.candidate.hash, template)
        mine, rest = _split(candidate, set(at.sources))
        if rest != _split(parent.candidate, set(at.sources))[1]:
            return run.refuse(candidate, "A tiling step must leave the kernel as it is.")
        if not at.admits(mine):
            return run.refuse(candidate, "A tiling step must stay inside the EVOLVE-BLOCK markers.")
        look_ahead(run, self.task, self.seed, parent, candidate, propose)
        return self._applied(candidate, retrieved, least)

    def _kernel(self, parent: Trial, least: float) -> Trial | None:
        run, task = self._run, self.task
        diagnosis = task.proposer.diagnose(task.operator, parent)
        retrieved = (*self.memory, *self._retrieved("kernel", parent, diagnosis))

        def propose(step: Step) -> Candidate | None:
            return task.proposer.rewrite(step, diagnosis, retrieved)

        candidate = propose(self._from(parent))
        if candidate is None:
            return None
        host = set(task.operator.host_sources)
        if _split(candidate, host)[0] != _split(parent.candidate, host)[0]:
            return run.refuse(candidate, "A kernel step must leave the host tiling as it is.")
        look_ahead(run, task, self.seed, parent, candidate, propose)
        return self._applied(candidate, retrieved, least)

    def _joint(self, parent: Trial, least: float) -> Trial | None:
        proposer = self.task.proposer
        diagnosis = proposer.diagnose(self.operator, parent)
        retrieved = (*self.memory, *self._retrieved("joint", parent, diagnosis))
        candidate = proposer.rewrite_both(self._from(parent), diagnosis, retrieved)
        return None if candidate is None else self._applied(candidate, retrieved, least)

    def _applied(
        self, candidate: Candidate, retrieved: tuple[Retrieved, ...], least: float
    ) -> Trial:
        """The trial of a candidate, with its credit to the experience that it used."""
        run, task = self._run, self.task
        recorded = run.is_recorded(candidate)
        trial = run.evaluate(candidate, least=least)
        won = run.gained(trial, least)
        offered = [r for r in retrieved if r.tuple.id in candidate.tuple_ids]
        self.used += [_use(r, trial, won) for r in offered]
        if task.bank is not None and offered and not recorded:
            own = {r.tuple.id for r in self.memory}
            task.bank.credit([r.tuple.id for r in offered if r.tuple.id not in own], won=won)
        return trial

    def _from(self, parent: Trial) -> Step:
        return Step(self.task.operator, parent, self._run.history, self.seed)

    def _retrieved(
        self, stage: Stage, parent: Trial, diagnosis: Diagnosis
    ) -> tuple[Retrieved, ...]:
        """Retrieve tuples from the bank; a resumed run does not ask a bank that learnt since."""
        run, task = self._run, self.task

        def ask() -> str:
            if task.bank is None or self._top_k == 0:
                return _RETRIEVED.dump_json(()).decode()
            operator, measured = task.operator, parent.measurement
            known = None if stage == "tiling" else task.proposer.applicable(self._from(parent))
            query = Query(
                bottleneck=diagnosis.bottleneck,
                classes=diagnosis.classes,
                op_family=operator.category or "other",
                dtype=operator.first_dtype,
                soc=measured.fingerprint.device if measured else "",
                applicable=known,
                stage=stage,
                by="likeness" if known is None and stage != "tiling" else "promise",
            )
            return _RETRIEVED.dump_json(tuple(task.bank.search(query, k=self._top_k))).decode()

        key = f"{stage} experience for {parent.candidate.hash} after {len(run.history)} trials"
        return _RETRIEVED.validate_json(run.recall(key, ask))


def _split(candidate: Candidate, paths: set[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The candidate's changed texts inside and outside of `paths`."""
    files = candidate.files
    inside = {p: t for p, t in files.items() if p in paths}
    return inside, {p: t for p, t in files.items() if p not in paths}


def _use(retrieved: Retrieved, trial: Trial, won: bool) -> UsedTuple:
    return UsedTuple(
        id=retrieved.tuple.id,
        title=retrieved.tuple.title,
        bottleneck=retrieved.tuple.bottleneck,
        similarity=retrieved.similarity,
        why=retrieved.why,
        trial=trial.number,
        won=won,
    )
