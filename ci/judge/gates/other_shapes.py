"""Other shapes: what the unmodified operator does on shapes near the workload's goes on working.

A tiling constant can be right for the shapes at hand only by luck: the work divides evenly, the
tail is empty. And a core count can be so cut for small inputs that larger ones crawl.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ci.judge.baseline import SLOWER
from ci.judge.gates.base import Gate
from ci.judge.launched import Launched
from ci.judge.subject import Standard, Subject
from ci.judge.varied import other_shapes
from ci.model.errors import TrialFailure
from ci.model.trial import Outcome, Place

MOST_CASES = 6
"""Further cases in all: each costs a launch for every candidate that would be inherited."""


class OtherShapesGate(Gate):
    """Launches the candidate on the shapes that the unmodified operator handles."""

    name = "other_shapes"
    phase = "admit"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses what fails there, warns, or is slower by more than `SLOWER`."""
        seed = subject.standard.workload.seeds[0]
        pairs = [(before, subject.at(before.case, seed)) for before in handled(subject.standard)]
        for _, now in pairs:
            failure = now.judged()
            if failure is not None:
                return self._refuse(
                    f"it fails ({failure.outcome.value}): {failure.refusal.sentence}",
                    failure.refusal.place,
                    failure.refusal.evidence,
                )
        for before, now in pairs:
            for warning in now.launched.warnings:
                return self._refuse(f"it warns: {warning.text}", warning.place, warning.kind)
            after = now.launched.time
            if after.low > before.time.high * (1 + SLOWER):
                slower = after.median / before.time.median - 1
                return self._refuse(f"it is slower by {slower:.0%}.", Place(case=now.case.name))
        return None

    def _refuse(self, what: str, place: Place, evidence: str = "") -> TrialFailure:
        sentence = f"On other shapes than the workload's {what}"
        return self.refuse(Outcome.UNFIT, sentence, place=place, evidence=evidence)


def handled(standard: Standard) -> Iterator[Launched]:
    """The unmodified operator's launches on the first further shapes that it handles."""
    cases = other_shapes(standard.workload)
    return islice(standard.baseline.handled(cases, standard.workload.seeds[0]), MOST_CASES)
