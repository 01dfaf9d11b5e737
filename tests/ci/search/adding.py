"""A judge and a proposer whose every gain is known."""

from __future__ import annotations

from dataclasses import replace

from ci.model.operator import Operator
from ci.model.result import Verification
from ci.model.trial import Candidate, Trial
from ci.proposer.base import Proposer, Step
from ci.proposer.rules.proposer import rules_proposer
from ci.testing.model_operator import KERNEL_FILE, ModelEvaluator


class Adding(ModelEvaluator):
    """A thousand cycles, less what each comment and each pair of comments at the end earns."""

    def __init__(
        self, operator: Operator, earns: dict[str, int], *, fails_verification: int = 0
    ) -> None:
        super().__init__(operator, fails_verification=fails_verification)
        self._earns = earns
        self.checked_after: list[int] = []
        """How many programs had been evaluated at each final check."""

    def confirm(self, trial: Trial) -> Verification:
        """Passes, but for the first `fails_verification` candidates."""
        self.checked_after.append(len(self.evaluated))
        return super().confirm(trial)

    def held(self, trial: Trial) -> str:
        """The comments that a trial's kernel holds."""
        text = trial.candidate.files.get(KERNEL_FILE, "")
        return "".join(letter for letter in "ab" if f"// {letter}\n" in text)

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        """One trial by what the comments earn."""
        trial = super().evaluate(candidate, number)
        if trial.measurement is None:
            return trial
        held = self.held(trial)
        time = 1000.0 - sum(e for of, e in self._earns.items() if set(of) <= set(held))
        case = trial.measurement.cases[0].model_copy(
            update={"samples_us": (time,), "median_us": time, "low_us": time, "high_us": time}
        )
        measured = trial.measurement.model_copy(update={"cases": (case,)})
        return trial.model_copy(update={"measurement": measured})


def adding(letters: str) -> Proposer:
    """Proposes each comment once, on top of whatever is the parent; each at a place of its own."""
    places = {"a": "using namespace AscendC;\n", "b": "    op.Compute(data.tile);\n"}

    def rewrite(step: Step, *_: object) -> Candidate | None:
        said = [t.candidate.rationale for t in step.history]
        for letter in letters:
            if letter not in said:
                path, files = KERNEL_FILE, step.best.candidate.files
                text = files.get(path, step.operator.read(path))
                text = text.replace(places[letter], places[letter] + f"// {letter}\n")
                return Candidate(
                    files={**files, path: text},
                    stage="kernel",
                    parent=step.best.candidate.hash,
                    rationale=letter,
                )
        return None

    return replace(rules_proposer(), rewrite=rewrite)
