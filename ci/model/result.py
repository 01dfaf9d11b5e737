"""The result of a finished optimization, as data for the report and for the bot."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.trial import Change, Fingerprint, Trial
from ci.model.uncertainty import Uncertainty

Verdict: TypeAlias = Literal["improved", "not_improved", "baseline_failed", "unknown", "unverified"]
"""`unknown`: faster as measured, but perhaps not over what the measurement leaves open.
`unverified`: faster, but too little of what the operator is made for could be tried."""


class UsedTuple(Frozen):
    """An experience tuple that Stage II retrieved, and why."""

    id: str
    title: str
    bottleneck: str
    similarity: float
    why: str
    trial: int = Field(description="Number of the trial whose candidate was offered it.")
    won: bool = Field(description="That trial became the best.")


class RemovedSync(Frozen):
    """A call that ordered pipes or cores in the original source, and is gone."""

    file: str
    line: int = Field(description="In the original source.")
    call: str


class Sibling(Frozen):
    """Another operator that takes a shared source which the change touches."""

    operator: str
    speedup: float | None = Field(
        default=None, description="On its own workload; None when it was not judged."
    )
    note: str = Field(default="", description="Why it was not judged.")


class OtherSizes(Frozen):
    """How a change fares on all sizes that it was tried on, the workload's among them."""

    least: int = Field(description="Input elements of the smallest case.")
    most: int = Field(description="Input elements of the largest case.")
    slowest: float = Field(description="Least of before / after over the cases.")
    slowest_case: str = Field(
        default="", description="The case of that: shapes and dtypes of its inputs, attributes."
    )
    fastest: float = Field(description="Largest of before / after over the cases.")
    unchanged_from: int | None = Field(
        default=None,
        description="Input elements from which on no case differs by more than 1 %; None where the"
        " largest differs.",
    )


class Decisions(Frozen):
    """Comparisons that a change brings, or decides otherwise, and how far they were tried."""

    new: int = Field(description="Comparisons, moduli, loop bounds and cases of a switch.")
    both: int = Field(description="Those of them that verified launches took both ways.")
    refused: int = Field(
        default=0, description="Those whose other way only requests take that the host refuses."
    )
    driven: int = Field(default=0, description="Cases that were made to take the other way.")
    undecided: tuple[str, ...] = Field(
        default=(), description="Places of the others: file, line, and what was compared."
    )


class Verification(Frozen):
    """How the final check was made."""

    seeds: tuple[int, ...]
    cases: int
    elements: int = Field(description="Output elements compared, over all cases and seeds.")
    reference: Literal["golden", "unmodified operator"]
    worst_error: float = Field(description="Largest error as a share of its tolerance.")
    varied: dict[str, int] = Field(
        default={},
        description="Further cases that both the original operator and this one pass, by what"
        " is varied in them; none of them is slower beyond the margin.",
    )
    sizes: OtherSizes | None = Field(default=None, description="None in results of earlier times.")
    shallow: bool = Field(
        default=False,
        description="So few varied cases could be made that little is known beyond the workload.",
    )
    not_varied: tuple[str, ...] = Field(
        default=(),
        description="What was to be varied too, and why it was not.",
    )
    regimes: int = Field(
        default=0,
        description="Ways in which the host side treats inputs of the workload's kind, all of them "
        "tried; 0 where the workload's own cases are small enough to be varied.",
    )
    gates: tuple[str, ...] = Field(
        default=(), description="Names of the gates of this check, all of them passed."
    )
    baseline_defects: tuple[str, ...] = Field(
        default=(), description="Varied cases that the original operator gets wrong, and how."
    )
    siblings: tuple[Sibling, ...] = Field(
        default=(), description="Other operators that the change concerns; none becomes slower."
    )
    decisions: Decisions | None = Field(
        default=None, description="None where the backend cannot see comparisons."
    )
    removed_sync: tuple[RemovedSync, ...] = Field(
        default=(), description="Barriers, flags and queue calls that the change does without."
    )
    order: str = Field(
        default="", description="Why that is safe, as far as it is known; '' if there are none."
    )


class BudgetUse(Frozen):
    """The granted budget, and the part that was spent."""

    evaluations: int
    granted: int
    wall_seconds: float
    tokens: int = 0
    money: float = 0.0


class RoleUse(Frozen):
    """Who filled one role of a model, and what that took."""

    role: str
    by: str = Field(description="'rules', or the model's name.")
    calls: int = Field(default=0, description="Requests sent, failed ones included.")
    unusable: int = Field(default=0, description="Answers that broke a rule of their role.")
    repairs: int = Field(default=0, description="Requests that showed the model such a mistake.")
    failures: int = Field(default=0, description="Requests that the endpoint did not answer.")
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_unsaid: int = Field(
        default=0, description="Estimate for answers whose usage the endpoint did not say."
    )
    cost: float | None = Field(default=0.0, description="None when the price is not known.")


class Result(Frozen):
    """Baseline, best pair ⟨T†, K†⟩, every trial, and the verdict (design §3)."""

    schema_version: Literal[3] = 3
    run: str = Field(description="Identifier of the run.")
    operator: str
    op_type: str
    operator_path: str = Field(
        description="What names the operator: its folder from the repository's top, or a path of"
        " its name in a folder of several."
    )
    base_commit: str = Field(default="", description="Commit of the repository, '' outside git.")
    base_hashes: dict[str, str] = Field(description="sha256 of each source before, by its name.")
    shared_paths: dict[str, str] = Field(
        default={},
        description="Sources that do not lie in `operator_path`: paths from the repository's top.",
    )
    fingerprint: Fingerprint
    seed: int
    settings: dict[str, int | float | str | bool]
    verdict: Verdict
    verdict_reason: str
    baseline: Trial
    best: Trial
    speedup: float = Field(description="Geometric mean over cases of baseline / best; 1 if none.")
    diff: str = Field(description="Unified diff against the operator's repository, '' if none.")
    trials: tuple[Trial, ...]
    retrieved: tuple[UsedTuple, ...] = ()
    verification: Verification | None = None
    uncertainty: Uncertainty | None = Field(
        default=None, description="Of the speedup; None where no ensemble was measured."
    )
    budget: BudgetUse
    models: tuple[RoleUse, ...] = Field(default=(), description="Empty when rules did everything.")
    currency: str = Field(default="", description="Of the cost, such as USD; '' without models.")
    stopped: str = Field(default="", description="Why the run ended early; '' when it did not.")
    floors_us: dict[str, float] = Field(
        default_factory=dict,
        description="By case: least time for the bytes and arithmetic of the best, with a launch.",
    )
    derived_workload: str = Field(
        default="",
        description="Text of the workload that was derived because the operator has none, '' where"
        " it has one.",
    )
    changes: tuple[Change, ...] = Field(
        default=(), description="What the diff does to the original operator, the steps summed up."
    )
    other_chips: tuple[str, ...] = Field(
        default=(),
        description="Chips that the operator is declared for and that this device is not.",
    )
    bottleneck_before: str = ""
    bottleneck_after: str = ""

    @property
    def held(self) -> float:
        """The least speedup over start states and all that the model is unsure of: a promise."""
        return self.speedup if self.uncertainty is None else self.uncertainty.low

    @property
    def typical(self) -> float:
        """The speedup in the mean of the start states: what 95 % of the model's doubts leave."""
        return self.speedup if self.uncertainty is None else self.uncertainty.typical

    @property
    def gain(self) -> str:
        """'at least 1.14×, 1.21× cold', or '1.21×' where nothing gives less."""
        return f"{self.speedup:.2f}×" if self.uncertainty is None else self.uncertainty.headline
