"""Algorithm 1 of AscendOptimizer: rounds of tiling and kernel steps from the best pair so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import Field

from ci.model.frozen import Frozen
from ci.search.base import Strategy
from ci.search.ending import BudgetSpent

if TYPE_CHECKING:
    from ci.model.trial import Trial
    from ci.search.run import Run
    from ci.search.steps import Steps

_NOTHING_LEFT: Final = {
    "tiling": "No tiling change is left to try for this kernel.",
    "kernel": "No kernel rewrite is left to try for this tiling.",
}


class Options(Frozen):
    """How long a round is."""

    rounds: int = Field(default=10, ge=1, description="Algorithm 1: rounds R.")
    tiling_steps: int = Field(default=4, ge=1, description="Algorithm 1: tiling steps U a round.")
    kernel_steps: int = Field(default=6, ge=1, description="Algorithm 1: kernel steps S a round.")


class AscendOptimizer(Strategy):
    """Evolves T with K as it is, then K with T as it is; each round inherits the best pair."""

    name = "ascendoptimizer"
    summary = "Algorithm 1 of AscendOptimizer, rounds of tiling and kernel steps from the best"
    Options = Options

    def search(self, run: Run, steps: Steps) -> None:
        """Rounds r = 1 … R, until the budget is spent or a round finds nothing."""
        self.rounds(run, steps, steps.start())

    def rounds(self, run: Run, steps: Steps, start: Trial) -> Trial:
        """The best pair of the rounds that begin with `start`."""
        assert isinstance(self.options, Options)
        counts = {"tiling": self.options.tiling_steps, "kernel": self.options.kernel_steps}
        best = start
        for _ in range(self.options.rounds):
            before, left = best, False
            for stage in steps.stages:
                for _ in range(counts[stage]):
                    trial = steps.take(stage, best)
                    if trial is None:
                        run.note(_NOTHING_LEFT[stage])
                        break
                    if run.gained(trial):
                        best = trial
                else:
                    left = True
            if run.budget.left == 0:
                raise BudgetSpent
            if best is not before:
                best = self.kept(run, steps, start, best)
            if not left and best is before:
                run.note("Nothing is left to try in either stage.")
                break
        return best

    def kept(self, run: Run, steps: Steps, start: Trial, best: Trial) -> Trial:
        """What the next round begins with, where a round found something: its best, unasked."""
        return best
