"""The proposer that asks language models; rules fill the roles that no model is configured for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ci.model.diagnosis import Diagnosis
from ci.model.operator import Operator
from ci.model.result import RoleUse
from ci.model.trial import Candidate, Trial
from ci.model.workload import Workload
from ci.proposer.base import ProposalRejected, Proposer, Rewound, RunContext
from ci.proposer.llm.answer import Mistake
from ci.proposer.llm.caller import Caller
from ci.proposer.llm.diagnosing import diagnose_with
from ci.proposer.llm.distilling import distill_with
from ci.proposer.llm.ledger import summarise
from ci.proposer.llm.mutation import Mutation, mutate_with
from ci.proposer.llm.rewinding import Removal, remove_with
from ci.proposer.llm.rewriting import Rewriting, rewrite_with
from ci.proposer.llm.settings import ROLES, Models, Role
from ci.proposer.llm.synthesis import synthesize_with
from ci.proposer.rules import RulesProposer
from ci.tiling.template import TilingTemplate
from experience.bank.distill import Lesson
from experience.bank.retrieve import Retrieved

MOST_MISSES: Final = 3
"""Unusable proposals in a row after which a stage counts as exhausted."""

WAYS: Final = 3
"""Removals that the inverse agent is asked for at one kernel."""

BY_RULES: Final = "rules"


class LlmProposer(Proposer):
    """Asks the models that `models` names, within the budget of the run that it was begun for."""

    name = "llm"

    def __init__(
        self, models: Models, *, caller_of: Callable[[Models, RunContext], Caller] = Caller
    ) -> None:
        self._models = models
        self._caller_of = caller_of
        self._caller: Caller | None = None
        self._rules = RulesProposer()
        self._workload: Workload | None = None
        self._device = ""
        self._operators: dict[str, Operator] = {}
        self._diagnoses: dict[tuple[str, str], Diagnosis] = {}
        self._misses: dict[Role, int] = {}

    def begin(self, run: RunContext) -> None:
        """Open the run's ledger; raises `InputError` when a price is needed and not known."""
        self._caller = self._caller_of(self._models, run)
        self._workload, self._device = run.workload, run.device
        self._diagnoses.clear()
        self._misses.clear()

    def roles(self) -> dict[str, str]:
        """'rules' or the model's name for each of the six roles."""
        return {role: self._model(role) or BY_RULES for role in ROLES}

    def model_use(self) -> tuple[tuple[RoleUse, ...], str]:
        """What each role took, from the ledger."""
        if self._caller is None:
            return (), ""
        return summarise(self.roles(), self._caller.ledger.calls()), self._caller.currency

    def synthesize(self, operator: Operator, workload: Workload) -> TilingTemplate:
        """The base program as the model marks it; as rules do when its answers cannot be used."""
        self._operators[operator.name] = operator
        self._workload = workload
        by_rules = self._rules.synthesize(operator, workload)
        model = self._model("synthesis")
        if not model:
            return by_rules
        try:
            made = synthesize_with(self._asked(), operator, workload, self._device, model)
        except Mistake:
            return by_rules
        return made or by_rules

    def mutate(
        self, template: TilingTemplate, best: Trial, history: Sequence[Trial], seed: int
    ) -> Candidate | None:
        """A change inside the markers; None when the model has nothing left, or only misses."""
        model = self._model("mutation")
        if not model:
            return self._rules.mutate(template, best, history, seed)
        step = Mutation(self._operators[template.operator], template, best, history)
        return self._proposed(
            "mutation",
            best,
            "tiling",
            lambda: mutate_with(self._asked(), step, self._workload, _device(best), model),
        )

    def diagnose(self, operator: Operator, best: Trial) -> Diagnosis:
        """The bottleneck query; asked once a program, and by rules when it cannot be used."""
        by_rules = self._rules.diagnose(operator, best)
        if not self._model("diagnosis") or best.measurement is None:
            return by_rules
        key = (operator.name, best.candidate.hash)
        if key not in self._diagnoses:
            try:
                self._diagnoses[key] = diagnose_with(
                    self._asked(), operator, best, by_rules, self._workload
                )
            except Mistake:
                self._diagnoses[key] = by_rules
        return self._diagnoses[key]

    def rewrite(
        self,
        operator: Operator,
        best: Trial,
        diagnosis: Diagnosis,
        retrieved: Sequence[Retrieved],
        history: Sequence[Trial],
        seed: int,
    ) -> Candidate | None:
        """A rewritten kernel; None when the model has nothing left, or only misses."""
        model = self._model("rewriting")
        if not model:
            return self._rules.rewrite(operator, best, diagnosis, retrieved, history, seed)
        step = Rewriting(operator, best, retrieved, history)
        return self._proposed(
            "rewriting",
            best,
            "kernel",
            lambda: rewrite_with(
                self._asked(), step, diagnosis, self._workload, _device(best), model
            ),
        )

    def rewind(
        self, operator: Operator, files: dict[str, str], removed: Sequence[str]
    ) -> list[Rewound]:
        """Up to three removals, each another one."""
        model = self._model("rewind")
        if not model:
            return self._rules.rewind(operator, files, removed)
        found: list[Rewound] = []
        for _ in range(WAYS):
            task = Removal(operator, files, frozenset(w.candidate.hash for w in found))
            shown = (*removed, *(w.title for w in found))
            try:
                way = remove_with(self._asked(), task, shown, self._workload, self._device, model)
            except Mistake:
                continue
            if way is None:
                break
            found.append(way)
        return found

    def distill(self, operator: Operator, slow: Trial, fast: Trial, draft: Lesson) -> Lesson:
        """What the pair teaches; `draft` when no usable answer says it better."""
        if not self._model("distillation") or not (slow.measurement and fast.measurement):
            return draft
        try:
            return distill_with(self._asked(), operator, slow, fast, draft)
        except Mistake:
            return draft

    def _proposed(
        self, role: Role, best: Trial, stage: str, ask: Callable[[], Candidate | None]
    ) -> Candidate | None:
        """What `ask` proposes. Raises ProposalRejected for an answer that cannot be used."""
        if self._misses.get(role, 0) >= MOST_MISSES:
            self._misses[role] = 0
            return None
        try:
            candidate = ask()
        except Mistake as mistake:
            self._misses[role] = self._misses.get(role, 0) + 1
            stand_in = best.candidate.model_copy(
                update={
                    "stage": stage,
                    "parent": best.candidate.hash,
                    "proposer": self.name,
                    "role": role,
                    "model": self._model(role),
                    "rationale": "An answer that could not be used.",
                    "motif_ids": (),
                    "tuple_ids": (),
                    "knobs": {},
                }
            )
            raise ProposalRejected(stand_in, str(mistake)) from None
        self._misses[role] = 0
        return candidate

    def _model(self, role: Role) -> str:
        """Name of the model that fills a role, '' when rules do."""
        model = self._models.of(role)
        return model.model if model is not None else ""

    def _asked(self) -> Caller:
        if self._caller is None:
            raise RuntimeError("begin() must be called before a model is asked")
        return self._caller


def _device(best: Trial) -> str:
    return best.measurement.fingerprint.device if best.measurement is not None else ""
