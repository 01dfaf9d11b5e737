"""An author's own change against its base: both timed on one workload, case by case."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field, PositiveFloat

from ci.model.frozen import Frozen
from ci.model.trial import Fingerprint

Verdict = Literal["faster", "slower", "same", "unclear", "broken", "fixed", "fails"]

SAME: Final = 1.01
"""A ratio nearer to 1 is no difference: a search takes out what earns less than 1 %, too."""


class ComparedCase(Frozen):
    """One case before and after the change."""

    case: str
    before_us: PositiveFloat | None = Field(default=None, description="None where it has no time.")
    after_us: PositiveFloat | None = None
    low: float = Field(default=1.0, gt=0, description="Least of before / after over all members.")
    high: float = Field(default=1.0, gt=0, description="The largest.")
    before_fault: str = Field(default="", description="Why the base does not pass it.")
    after_fault: str = Field(default="", description="Why the change does not pass it.")

    @property
    def ratio(self) -> float | None:
        """How many times as fast the change is; None where one of both has no time."""
        if self.before_us is None or self.after_us is None:
            return None
        return self.before_us / self.after_us

    @property
    def verdict(
        self,
    ) -> Literal["faster", "slower", "same", "unclear", "broken", "fixed", "fails"]:
        """In a word. unclear: the range has both; broken: only the base passes it."""
        if self.before_fault or self.after_fault:
            if not self.before_fault:
                return "broken"
            return "fails" if self.after_fault else "fixed"
        ratio = self.ratio
        if ratio is None or 1 / SAME <= ratio <= SAME:
            return "same"
        if self.low < 1 < self.high:
            return "unclear"
        return "faster" if ratio > 1 else "slower"


class MeasuredChange(Frozen):
    """The result of a run of the kind `measure`."""

    run: str
    operator: str = Field(description="Folder from the repository's top.")
    base_commit: str
    head_commit: str
    fingerprint: Fingerprint
    derived: bool = Field(description="Whether the workload was derived from the base.")
    cases: tuple[ComparedCase, ...]
    new_faults: tuple[str, ...] = Field(
        default=(), description="Faults that the machine saw after the change and not before."
    )
    gone_faults: tuple[str, ...] = ()

    @property
    def broken(self) -> tuple[ComparedCase, ...]:
        """The cases that only the base passes."""
        return tuple(c for c in self.cases if c.verdict == "broken")

    def slower(self, threshold: float) -> tuple[ComparedCase, ...]:
        """The cases that take more than `threshold` times as long, whatever is uncertain."""
        return tuple(
            c
            for c in self.cases
            if c.verdict == "slower" and c.ratio is not None and c.ratio < 1 / threshold
        )
