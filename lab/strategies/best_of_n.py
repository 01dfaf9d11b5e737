"""Best of n: every step starts from the same program. Next to it shows what iterating is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ci.search.base import Strategy

if TYPE_CHECKING:
    from ci.search.run import Run
    from ci.search.steps import Steps


class BestOfN(Strategy):
    """Takes single steps from where the search starts, the stages in turns, and builds on none."""

    name = "best_of_n"
    summary = "as many single steps from the original operator as the budget has"

    def search(self, run: Run, steps: Steps) -> None:
        """Until no stage has a step left."""
        start, stages = steps.start(), list(steps.stages)
        while stages:
            for stage in tuple(stages):
                if steps.take(stage, start) is None:
                    stages.remove(stage)
        run.note("No single step is left to try.")
