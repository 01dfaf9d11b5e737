"""What a proposer is: who suggests changed sources, for both stages, for rewind and for the bank.

Each role is a protocol of its own and is filled by rules or by a model; a `Proposer` says who
fills which. None builds or runs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

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


class ProposalRejected(Exception):
    """A proposal that is wrong before it is built, such as an edit that matches nowhere.

    `candidate` stands for it in the history; it is recorded and costs no evaluation.
    """

    def __init__(self, candidate: Candidate, message: str) -> None:
        super().__init__(message)
        self.candidate = candidate


@dataclass(frozen=True)
class Step:
    """Where a search stands when it asks for a candidate."""

    operator: Operator
    best: Trial
    """The parent of what is proposed."""
    history: Sequence[Trial]
    """Every trial so far, the baseline first."""
    seed: int = 0

    @property
    def device(self) -> str:
        """The device that `best` was measured on, '' when it was not measured."""
        measured = self.best.measurement
        return measured.fingerprint.device if measured is not None else ""


class Rewound(Frozen):
    """A kernel with exactly one optimization removed, and the name of what was removed."""

    candidate: Candidate
    motif_id: str
    title: str
    description: str = ""
    """Why the removed optimization helps, general enough for other operators."""
    classes: tuple[str, ...] = ()
    """Taxonomy ids of the bottleneck that the removal brings back."""


class TilingSynthesizer(Protocol):
    """The role `synthesis`."""

    def __call__(self, operator: Operator, workload: Workload, device: str) -> TilingTemplate:
        """The host tiling source with evolution markers and knobs (Stage I, paper §3)."""


class TilingMutator(Protocol):
    """The role `mutation`."""

    def __call__(
        self, step: Step, template: TilingTemplate, retrieved: Sequence[Retrieved] = ()
    ) -> Candidate | None:
        """A changed tiling inside the template's markers, kernel as in `step.best`.

        None when nothing is left to suggest. Raises `ProposalRejected`.
        """


class Diagnoser(Protocol):
    """The role `diagnosis`."""

    def __call__(self, operator: Operator, best: Trial) -> Diagnosis:
        """The bottleneck query of the kernel as profiled in `best`."""


class KernelRewriter(Protocol):
    """The role `rewriting`."""

    def __call__(
        self, step: Step, diagnosis: Diagnosis, retrieved: Sequence[Retrieved]
    ) -> Candidate | None:
        """A changed kernel that applies retrieved experience, tiling as in `step.best`.

        None when nothing is left to suggest. Raises `ProposalRejected`.
        """


class JointRewriter(Protocol):
    """Who changes both halves at once, where neither is worth anything alone."""

    def __call__(
        self, step: Step, diagnosis: Diagnosis, retrieved: Sequence[Retrieved]
    ) -> Candidate | None:
        """A changed host tiling and kernel in one candidate of stage `joint`.

        None when nothing is left to suggest. Raises `ProposalRejected`.
        """


class Rewinder(Protocol):
    """The role `rewind`."""

    def __call__(
        self, operator: Operator, files: dict[str, str], removed: Sequence[str]
    ) -> list[Rewound]:
        """Every way to remove one optimization from the sources as overlaid by `files`.

        `removed` names what earlier steps removed.
        """


class Distiller(Protocol):
    """The role `distillation`."""

    def __call__(self, operator: Operator, slow: Trial, fast: Trial, draft: Lesson) -> Lesson:
        """What a slow/fast pair teaches, general enough for other operators."""


@dataclass(frozen=True)
class RunContext:
    """What the models behind a proposer may use of the run that they are asked for."""

    calls: Path
    """SQLite file that keeps every call."""
    budget: Budget
    """Where tokens and money are reserved before a call."""
    upcoming: Callable[[], int]
    """Number of the trial that the next proposal becomes."""
    workload: Workload | None = None
    """What the operator is optimized for, for the prompts."""
    device: str = ""
    """Device that candidates are measured on, '' when not known yet."""


class NoModels:
    """The models behind a proposer that asks none; `ci.proposer.llm.run` has the other kind."""

    def begin(self, run: RunContext) -> None:
        """Called once before the first proposal of a run. May raise `InputError`."""

    def roles(self) -> dict[str, str]:
        """Who fills the six roles ('rules' or a model's name); empty when no model can."""
        return {}

    def use(self) -> tuple[tuple[RoleUse, ...], str]:
        """(one line a role, currency) of the run so far; empty when no model was asked."""
        return (), ""


def nothing_joint(step: Step, diagnosis: Diagnosis, retrieved: Sequence[Retrieved]) -> None:
    """The answer of who changes one half at a time."""


def not_known(step: Step) -> None:
    """The answer of who cannot say which motifs are applicable."""


@dataclass(frozen=True)
class Proposer:
    """Who fills each role, and the models behind them."""

    name: str
    synthesize: TilingSynthesizer
    mutate: TilingMutator
    diagnose: Diagnoser
    rewrite: KernelRewriter
    rewind: Rewinder
    distill: Distiller
    rewrite_both: JointRewriter = nothing_joint
    applicable: Callable[[Step], tuple[str, ...] | None] = not_known
    """Motifs that have a place left in the kernel of `best`; None when that is not known.

    Retrieval offers no tuple of another motif: what cannot be applied helps nobody."""
    models: NoModels = field(default_factory=NoModels)
