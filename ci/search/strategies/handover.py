"""Algorithm 1, and what it leaves of the budget for what its two stages cannot reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ci.search.strategies.adaptive import explore, held_up
from ci.search.strategies.ascendoptimizer import AscendOptimizer

if TYPE_CHECKING:
    from ci.model.trial import Trial
    from ci.search.run import Run
    from ci.search.steps import Steps


class Handover(AscendOptimizer):
    """Hands over when neither stage has anything left to try: nothing ends a run before its budget.

    A round begins with what passes the final check. What follows takes joint steps too, builds on
    near-ties, and joins changes that were made apart.
    """

    name = "handover"
    summary = "Algorithm 1, then adaptive with what it leaves of the budget"

    def search(self, run: Run, steps: Steps) -> None:
        """The rounds of Algorithm 1, then moves from its best and what is near it."""
        start = steps.start()
        best = self.rounds(run, steps, start)
        if run.budget.left:
            run.note("The search goes on with joint steps and other parents.")
            explore(run, steps, start, best)

    def kept(self, run: Run, steps: Steps, start: Trial, best: Trial) -> Trial:
        """The best, if it passes the final check, else the next best: what later rounds build on
        one that does not is lost with it."""
        return held_up(run, steps, start, best)
