"""The models of one run: begun once, then asked by every role that a model fills."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, TypeVar

from ci.model.diagnosis import Diagnosis
from ci.model.result import RoleUse
from ci.model.trial import Candidate
from ci.model.workload import Workload
from ci.proposer.base import NoModels, ProposalRejected, RunContext, Step
from ci.proposer.llm.answer import BadAnswer
from ci.proposer.llm.call_log import summarise
from ci.proposer.llm.caller import Caller
from ci.proposer.llm.dialogue import converse
from ci.proposer.llm.prompts import messages
from ci.proposer.llm.settings import ROLES, Models, Role
from ci.proposer.llm.view import View, shared_texts, view_of
from ci.tiling.template import TilingTemplate

BY_RULES: Final = "rules"

Stage: TypeAlias = Literal["tiling", "kernel", "joint", "rewind"]
T = TypeVar("T")

MOST_MISSES: Final = 3
"""Unusable proposals in a row after which a stage counts as exhausted."""


@dataclass
class Begun:
    """What a run that was begun asks with, and what it remembers of the answers."""

    caller: Caller
    workload: Workload | None
    device: str
    """Device that candidates are measured on, '' when not known yet."""
    misses: Counter[Role] = field(default_factory=Counter)
    """Unusable proposals in a row, by role."""
    diagnoses: dict[tuple[str, str], Diagnosis] = field(default_factory=dict)
    """The diagnoses by operator and candidate: a program is diagnosed once."""
    template: TilingTemplate | None = None
    """What of the host tiling may change, as it was made for this run."""
    closed: set[tuple[str, str]] = field(default_factory=set)
    """(stage, candidate) where the model sees nothing more: it is not asked there again."""
    views: dict[str, View] = field(default_factory=dict)
    """The views by operator: what its prompts show of the sources."""

    def view_of(self, step: Step, template: TilingTemplate) -> View:
        """The same for every step of a run."""
        name, baseline = step.operator.name, step.history[0]
        if name not in self.views:
            shared = shared_texts(step.operator, baseline)
            self.views[name] = view_of(step.operator, baseline, template, shared)
        return self.views[name]


class ModelRun(NoModels):
    """The models that `models` names, within the budget of the run that they were begun for."""

    def __init__(
        self, models: Models, *, caller_of: Callable[[Models, RunContext], Caller] = Caller
    ) -> None:
        self.models = models
        self._caller_of = caller_of
        self._begun: Begun | None = None

    def begin(self, run: RunContext) -> None:
        """Open the run's calls; raises `InputError` when a price is needed and not known."""
        self._begun = Begun(self._caller_of(self.models, run), run.workload, run.device)

    def roles(self) -> dict[str, str]:
        """'rules' or the model's name for each of the six roles."""
        return {role: self.model(role) or BY_RULES for role in ROLES}

    def use(self) -> tuple[tuple[RoleUse, ...], str]:
        """What each role took, from the calls."""
        if self._begun is None:
            return (), ""
        caller = self._begun.caller
        return summarise(self.roles(), caller.calls.all()), caller.currency

    def model(self, role: Role) -> str:
        """Name of the model that fills a role, '' when rules do."""
        model = self.models.of(role)
        return model.model if model is not None else ""

    @property
    def is_begun(self) -> bool:
        """Whether there is a run to ask for."""
        return self._begun is not None

    @property
    def begun(self) -> Begun:
        """The run; asking a model before there is one is an error of the program."""
        if self._begun is None:
            raise RuntimeError("begin() must be called before a model is asked")
        return self._begun

    def ask(
        self,
        role: Role,
        device: str,
        accept: Callable[[str], T],
        schema: dict[str, Any] | None = None,
        **values: Any,
    ) -> T:
        """What `accept` makes of a model's answer to the role's prompt, which `values` fill.

        Raises as `converse` does.
        """
        return converse(self.begun.caller, role, messages(role, device, **values), accept, schema)

    def candidate(
        self, role: Role, stage: Stage, files: dict[str, str], parent: str, **said: Any
    ) -> Candidate:
        """A candidate that the role's model proposes, with what is `said` of it."""
        return Candidate(
            files=files,
            stage=stage,
            parent=parent,
            proposer="llm",
            role=role,
            model=self.model(role),
            **said,
        )

    def proposed(
        self,
        role: Role,
        step: Step,
        stage: Stage,
        accept: Callable[[str], Candidate | None],
        **values: Any,
    ) -> Candidate | None:
        """What `ask` gives; None after too many answers in a row that cannot be used.

        Raises `ProposalRejected` for such an answer.
        """
        misses = self.begun.misses
        if misses[role] >= MOST_MISSES:
            del misses[role]
            return None
        try:
            candidate = self.ask(role, step.device, accept, **values)
        except BadAnswer as mistake:
            misses[role] += 1
            best, why = step.best.candidate, "An answer that could not be used."
            stand_in = self.candidate(role, stage, best.files, best.hash, rationale=why)
            raise ProposalRejected(stand_in, str(mistake)) from None
        del misses[role]
        return candidate
