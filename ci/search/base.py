"""The protocol of a search strategy: it proposes the next candidate and observes trials.

A strategy is one file in `ci/search/strategies` (docs/adding-a-strategy.md). It holds whatever it
wants to know between trials: who is a parent, how many parents there are, and when enough was
tried are its own affair. All else is the run's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from ci.model.frozen import Frozen

if TYPE_CHECKING:
    from ci.search.run import Run
    from ci.search.steps import Steps


class NoOptions(Frozen):
    """The options of a strategy that has none."""


class Strategy(ABC):
    """Searches for a faster pair ⟨T, K⟩; an object serves one run.

    Must be deterministic: what it asks for follows from the trials so far and the run's seed.
    Then a run that was killed asks for the same again, and is answered from what it recorded.
    """

    name: ClassVar[str]
    """Its name for --strategy."""
    summary: ClassVar[str]
    """A few words about it, for the help."""
    Options: ClassVar[type[Frozen]] = NoOptions
    """Its own options; each is an option of `ascendopt optimize`."""

    def __init__(self, options: Frozen | None = None) -> None:
        self.options = options or self.Options()

    @abstractmethod
    def search(self, run: Run, steps: Steps) -> None:
        """Evaluate candidates until nothing is left to try; `BudgetSpent` ends it before.

        `steps.take` gets one proposal for a parent and evaluates it; `run.evaluate` evaluates a
        candidate of the strategy's own making. Both return the trial. `run.gained` says whether a
        trial may be built on. The best trial of all is found when the search is over.
        """
