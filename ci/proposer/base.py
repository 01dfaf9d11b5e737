"""What a proposer is: the one who suggests changed sources, for both stages and for rewind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ci.model.budget import Budget
from ci.model.diagnosis import Diagnosis
from ci.model.frozen import Frozen
from ci.model.operator import Operator
from ci.model.result import RoleUse
from ci.model.trial import Candidate, Trial
from ci.model.workload import Workload
from ci.tiling.template import TilingTemplate
from experience.bank.distill import Lesson
from experience.bank.retrieve import Retrieved


class ModelUnavailable(Exception):
    """A model can answer no more: out of budget, or out of reach after all retries.

    The message is one sentence. Who asked ends cleanly and keeps what was found until then.
    """


class ProposalRejected(Exception):
    """A proposal that is wrong before it is built, such as an edit that matches nowhere.

    `candidate` stands for it in the history; it is recorded and costs no evaluation.
    """

    def __init__(self, candidate: Candidate, message: str) -> None:
        super().__init__(message)
        self.candidate = candidate


@dataclass(frozen=True)
class RunContext:
    """What a proposer that asks models may use of the run it works for."""

    calls: Path
    """DuckDB file that keeps every call."""
    budget: Budget
    """Where tokens and money are reserved before a call."""
    upcoming: Callable[[], int]
    """Number of the trial that the next proposal becomes."""
    workload: Workload | None = None
    """What the operator is optimized for, for the prompts."""
    device: str = ""
    """Device that candidates are measured on, '' when not known yet."""


class Rewound(Frozen):
    """A kernel with exactly one optimization removed, and the name of what was removed."""

    candidate: Candidate
    rule_id: str
    title: str
    description: str = ""
    """Why the removed optimization helps, general enough for other operators."""
    classes: tuple[str, ...] = ()
    """Taxonomy ids of the bottleneck that the removal brings back."""


class Proposer(ABC):
    """Suggests candidates. Never builds or runs anything; None means: nothing left to suggest."""

    name: str

    def begin(self, run: RunContext) -> None:  # noqa: B027  (most proposers need nothing)
        """Told once before the first proposal of a run. May raise `InputError`."""

    def roles(self) -> dict[str, str]:
        """Who fills the roles of a model ('rules' or a model's name); empty when none can."""
        return {}

    def model_use(self) -> tuple[tuple[RoleUse, ...], str]:
        """(one line a role, currency) of the run so far; empty when no model was asked."""
        return (), ""

    @abstractmethod
    def synthesize(self, operator: Operator, workload: Workload) -> TilingTemplate:
        """The host tiling source with evolution markers and knobs (Stage I, paper §3)."""

    @abstractmethod
    def mutate(
        self, template: TilingTemplate, best: Trial, history: Sequence[Trial], seed: int
    ) -> Candidate | None:
        """A changed tiling inside the template's markers, kernel as in `best`."""

    @abstractmethod
    def diagnose(self, operator: Operator, best: Trial) -> Diagnosis:
        """The bottleneck query of the kernel as profiled in `best`."""

    def applicable(
        self, operator: Operator, best: Trial, history: Sequence[Trial]
    ) -> tuple[str, ...] | None:
        """Motifs that have a place left in the kernel of `best`; None when that is not known.

        Retrieval offers no tuple of another motif: what cannot be applied helps nobody.
        """
        return None

    @abstractmethod
    def rewrite(
        self,
        operator: Operator,
        best: Trial,
        diagnosis: Diagnosis,
        retrieved: Sequence[Retrieved],
        history: Sequence[Trial],
        seed: int,
    ) -> Candidate | None:
        """A changed kernel that applies retrieved experience, tiling as in `best`."""

    @abstractmethod
    def rewind(
        self, operator: Operator, files: dict[str, str], removed: Sequence[str]
    ) -> list[Rewound]:
        """Every way to remove one optimization from the sources as overlaid by `files`."""

    def distill(self, operator: Operator, slow: Trial, fast: Trial, draft: Lesson) -> Lesson:
        """What a slow/fast pair teaches, general enough for other operators; by default `draft`."""
        return draft
