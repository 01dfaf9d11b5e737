"""What judges the candidates of one operator, wherever the work is done."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from ci.model.result import Verification
from ci.model.trial import Candidate, Fingerprint, Trial


class Judge(Protocol):
    """An evaluator in this process, at a pool, with a memory, or two for one.

    A class that says nothing else does one thing at a time: it begins nothing ahead.
    """

    def load(self) -> None:
        """Load the golden, so that what is wrong with it is said before anything is built.

        Raises InputError.
        """
        return

    def fingerprint(self) -> Fingerprint:
        """Which device and which versions give the figures."""

    def program(self, candidate: Candidate) -> str:
        """Names what the candidate runs: two of one name have equal trials; '' if not known."""

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        """One trial of the candidate."""

    def admit(
        self, trial: Trial, parent: Trial, baseline: Trial, *, without: Collection[str] = ()
    ) -> Trial:
        """The trial as it may be built on or reported, or with the outcome and refusal that keep it
        out. `parent` is what the candidate was made from, `baseline` the original operator;
        `without` names gates that are not asked."""

    def confirm(self, trial: Trial) -> Verification:
        """The final check of an admitted trial. Raises TrialFailure with the refusal of a gate."""

    def members_us(self, candidate: Candidate) -> dict[str, dict[str, float]]:
        """Times in µs by case and member of the ensemble; {} where none is asked for.

        Raises TrialFailure.
        """

    @property
    def size(self) -> int:
        """Candidates that can be at work at a time."""
        return 1

    @property
    def begun(self) -> int:
        """Candidates that were begun and not asked for, and are not done."""
        return 0

    def begin(self, candidate: Candidate) -> None:
        """Have a candidate evaluated that will probably be asked for, while others are, where more
        than one can be at work."""
        return
