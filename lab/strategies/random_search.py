"""Random search: any stage, from any program that runs; what a cleverer strategy must beat."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from ci.model.trial import Outcome
from ci.search.base import Strategy

if TYPE_CHECKING:
    from ci.search.run import Run
    from ci.search.steps import Steps


class RandomSearch(Strategy):
    """Draws a parent and a stage, both with equal chances, and takes that step."""

    name = "random_search"
    summary = "one step at a time, in a random stage from a random trial that ended well"

    def search(self, run: Run, steps: Steps) -> None:
        """Until no parent has a step left."""
        draw = random.Random(steps.seed)
        open_steps = [(steps.start(), stage) for stage in steps.stages]
        while open_steps:
            chosen = draw.randrange(len(open_steps))
            trial = steps.take(open_steps[chosen][1], open_steps[chosen][0])
            if trial is None:
                del open_steps[chosen]
            elif trial.outcome is Outcome.OK and not trial.cached:
                open_steps += [(trial, stage) for stage in steps.stages]
        run.note("No trial has a step left to try.")
