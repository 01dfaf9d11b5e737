"""What a proposer is: the one who suggests changed sources, for both stages and for rewind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ci.operator import Operator
from ci.optimizer.template import TilingTemplate
from ci.trial import Candidate, Frozen, Trial
from ci.workload import Workload
from experience.retrieve import Retrieved


class Diagnosis(Frozen):
    """What bounds a kernel, in words for retrieval and for the report."""

    bottleneck: str
    classes: tuple[str, ...]
    """Ids from rules/taxonomy.yml, the most likely first."""
    evidence: tuple[str, ...]


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
