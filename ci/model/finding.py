"""Findings of a check in an operator as it is."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.trial import Place


class Severity(StrEnum):
    """How bad a finding is, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Finding(Frozen):
    """One fault, with the first case that showed it."""

    kind: str = Field(description="Such as race, overrun or compiler_order; see rules/findings.")
    severity: Severity
    title: str = Field(description="The kind in a few words.")
    place: Place = Place()
    other: Place = Field(default=Place(), description="Of two accesses, the earlier one.")
    text: str = Field(description="What was seen, in a sentence.")
    evidence: str = Field(default="", description="Worst elements, or the words of a compiler.")
    advice: str = ""
    varied: str = Field(
        default="", description="What was varied in the case; '' for one of the workload."
    )
    more: int = Field(default=0, description="Further cases that show it.")
    alone: str = Field(
        default="",
        description="Its case on one line, which `--case` takes; '' where no launch of one case"
        " shows it.",
    )

    @property
    def fails(self) -> bool:
        """Whether a check with this finding ends with 1."""
        return self.severity is not Severity.NOTE


class CheckSettings(Frozen):
    """How far a check goes."""

    varied: int = Field(
        default=64,
        ge=0,
        description="Most cases in addition to those of the workload: other lengths, values,"
        " attributes, dtypes.",
    )
    seconds: float = Field(
        default=60.0,
        gt=0,
        description="Start no further case after so many seconds; deriving a workload takes half of"
        " them at most.",
    )
    case: str = Field(
        default="",
        description="Only this case: the name of one of the workload, or a case on one line as a"
        " report gives it.",
    )

    @property
    def deriving_seconds(self) -> float:
        """Wall time that deriving a workload may take."""
        return self.seconds / 2


class CheckReport(Frozen):
    """One operator's check."""

    operator: str
    folder: Path
    kernel: str = Field(
        default="", description="The source with its kernel, seen from `folder`; '' where unread."
    )
    findings: tuple[Finding, ...] = ()
    cases: int = Field(default=0, description="Cases that were launched.")
    varied: dict[str, int] = Field(
        default_factory=dict, description="Of them, by what was varied in them."
    )
    notes: tuple[str, ...] = Field(default=(), description="What was not checked, and why.")
    unchecked: str = Field(default="", description="Why nothing was checked; '' where it was.")
    refused: bool = Field(
        default=False, description="Whether that is a fault of its own workload or of an option."
    )
    workload: str = Field(default="", description="The workload file, where it was derived.")
    seconds: float = 0.0

    @property
    def fails(self) -> bool:
        """Whether anything was found that is more than a note."""
        return any(found.fails for found in self.findings)

    def joined(self, other: CheckReport) -> CheckReport:
        """The report with what only the `other` one of the same operator found, the worst first."""
        known = {(one.kind, one.place.source or one.text) for one in self.findings}
        more = [f for f in other.findings if (f.kind, f.place.source or f.text) not in known]
        ranks = [*Severity]
        findings = sorted((*more, *self.findings), key=lambda one: ranks.index(one.severity))
        return self.model_copy(
            update={
                "findings": tuple(findings),
                "cases": self.cases + other.cases,
                "seconds": round(self.seconds + other.seconds, 2),
            }
        )
