"""Two evaluators for one: the simulator screens, a device decides.

The simulator shows what a device hides (races, what was never written, a byte past a tensor) and
predicts times. Where it passes the original operator, a candidate that it finds wrong, or whose
predicted loss on its parent lies beyond its uncertainty, is decided without a device. Everything
else is the device's: above all what is faster. What it measures keeps the prediction next to it.
"""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import Future
from typing import Final

from ci.backend.pool.dispatch import in_background
from ci.judge.base import Judge
from ci.model.comparison import MINIMUM_EFFECT
from ci.model.errors import TrialFailure
from ci.model.result import Verification
from ci.model.trial import Candidate, Fingerprint, Measurement, Outcome, Refusal, Trial
from ci.model.uncertainty import uncertainty

WRONG: Final = (Outcome.WRONG_RESULT, Outcome.RACE, Outcome.MEMORY_ERROR)
"""What the simulator decides. What it cannot build or launch, a device may."""

GATE: Final = "screen"


class TwoTiers(Judge):
    """Judges as the device does, after the simulator has screened."""

    def __init__(self, screen: Judge, device: Judge) -> None:
        """`screen` must time over an ensemble that moves the machine's constants."""
        self.screen = screen
        self.device = device
        self._predicted: dict[str, Trial] = {}
        self._ahead: dict[str, Future[None]] = {}

    def load(self) -> None:
        """Say what is wrong with the golden."""
        self.screen.load()
        self.device.load()

    def fingerprint(self) -> Fingerprint:
        """The device's."""
        return self.device.fingerprint()

    def program(self, candidate: Candidate) -> str:
        """Empty: what the simulator's compiler makes equal may differ on the device, and asking
        there would build what the simulator may yet refuse."""
        return ""

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        """The simulator's refusal, or the device's trial with the prediction next to it."""
        begun = self._ahead.pop(candidate.hash, None)
        if begun is not None:
            begun.result()
        predicted = self._prediction(candidate)
        refused = self._refused(predicted)
        if refused is not None:
            return refused.model_copy(update={"number": number})
        trial = self.device.evaluate(candidate, number, profile=profile)
        return trial.model_copy(update={"predicted": predicted.measurement})

    def admit(
        self, trial: Trial, parent: Trial, baseline: Trial, *, without: Collection[str] = ()
    ) -> Trial:
        """Asks the simulator's gates first, on more shapes, where it could judge all three."""
        of = [self._prediction(one.candidate) for one in (trial, parent, baseline)]
        if all(one.outcome is Outcome.OK for one in of):
            screened = self.screen.admit(*of, without=without)
            if screened.outcome in WRONG:
                outcome = {"outcome": screened.outcome, "refusal": screened.refusal}
                return trial.model_copy(update=outcome)
        return self.device.admit(trial, parent, baseline, without=without)

    def confirm(self, trial: Trial) -> Verification:
        """Both must confirm it, but the simulator only where it passes it at all."""
        predicted = self._prediction(trial.candidate)
        if predicted.outcome is Outcome.OK:
            try:
                self.screen.confirm(predicted)
            except TrialFailure as failure:
                if failure.outcome in WRONG:
                    raise
        return self.device.confirm(trial)

    def members_us(self, candidate: Candidate) -> dict[str, dict[str, float]]:
        """The device's."""
        return self.device.members_us(candidate)

    @property
    def size(self) -> int:
        """Devices that can be at work at a time."""
        return self.device.size

    @property
    def begun(self) -> int:
        """Candidates that were begun and not asked for, and are not done."""
        screening = sum(not one.done() for one in self._ahead.values())
        return screening + self.device.begun

    def begin(self, candidate: Candidate) -> None:
        """Screen a candidate that will probably be asked for, and have a device begin what passes,
        while others are evaluated."""
        if candidate.hash not in self._ahead:
            self._ahead[candidate.hash] = in_background(lambda: self._begin(candidate))

    def _begin(self, candidate: Candidate) -> None:
        if self._refused(self._prediction(candidate)) is None:
            self.device.begin(candidate)

    def _prediction(self, candidate: Candidate) -> Trial:
        """The simulator's trial, over the ensemble where it passes; made once."""
        known = self._predicted.get(candidate.hash)
        if known is None:
            known = self.screen.evaluate(candidate, 0)
            if known.measurement is not None:
                try:
                    over = known.measurement.over(self.screen.members_us(candidate))
                    known = known.model_copy(update={"measurement": over})
                except TrialFailure as failure:  # it is slower as a member than a launch may be
                    known = known.model_copy(
                        update={
                            "outcome": failure.outcome,
                            "refusal": failure.refusal,
                            "measurement": None,
                        }
                    )
            self._predicted[candidate.hash] = known
        return known

    def _refused(self, predicted: Trial) -> Trial | None:
        base = self._prediction(Candidate())
        if base.outcome is not Outcome.OK or predicted.candidate.hash == base.candidate.hash:
            return None
        if predicted.outcome in WRONG:
            return predicted.model_copy(update={"screened": True})
        parent = self._predicted.get(predicted.candidate.parent, base)
        said = loss(parent.measurement, predicted.measurement)
        if not said:
            return None
        return predicted.model_copy(
            update={
                "outcome": Outcome.UNFIT,
                "refusal": Refusal(gate=GATE, sentence=said),
                "measurement": None,
                "predicted": predicted.measurement,
                "screened": True,
            }
        )


def loss(before: Measurement | None, after: Measurement | None) -> str:
    """A sentence when `after` is predicted to be slower whatever the machine's uncertainty hides;
    '' otherwise, and where either was not timed over an ensemble."""
    found = uncertainty(before, after) if before is not None and after is not None else None
    if found is None or found.high >= 1 / (1 + MINIMUM_EFFECT):
        return ""
    return (
        f"The simulator predicts {found.speedup:.2f}× as fast as its parent, and {found.high:.2f}×"
        " at best over the machine's uncertainty; no device was asked."
    )
