"""What a gate is: one reason to refuse a candidate, asked at its phase by the evaluator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal, TypeAlias

from ci.judge.gate_subject import Subject
from ci.model.errors import TrialFailure
from ci.model.trial import Outcome, Place, Refusal

Phase: TypeAlias = Literal["sources", "launch", "admit", "confirm"]
"""When a gate is asked:

sources   before anything is built
launch    of each launch: every case of the workload on its seeds, then every further case
admit     of a measured trial, before others are made from it or it is reported
confirm   of the trial that is about to be reported
"""


class Gate(ABC):
    """Refuses candidates for one kind of fault. Has no state: what is dear is kept by the subject,
    or by the baseline that the subject leads to."""

    name: ClassVar[str]
    """The name as reports and stored trials name it."""
    phase: ClassVar[Phase]

    @abstractmethod
    def check(self, subject: Subject) -> TrialFailure | None:
        """Why the candidate is refused, as it would be raised; None lets it pass.

        Nothing that a candidate does may raise here. The unmodified operator must pass, unless it
        fails its own workload. At the phase `launch` the gates before this one on the list have
        let this very launch pass.
        """

    def refuse(
        self, outcome: Outcome, sentence: str, *, place: Place | None = None, evidence: str = ""
    ) -> TrialFailure:
        """The failure that `check` answers with, in the name of this gate."""
        found = Refusal(
            gate=self.name, place=place or Place(), sentence=sentence, evidence=evidence
        )
        return TrialFailure(outcome, found)

    def signed(self, failure: TrialFailure) -> TrialFailure:
        """A failure that somebody else found, in the name of this gate."""
        named = failure.refusal.model_copy(update={"gate": self.name})
        return TrialFailure(failure.outcome, named, failure.warnings)
