"""Coverage: what was varied is enough to say anything of a candidate beyond its workload."""

from __future__ import annotations

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.judge.varied_sweep import LEAST_VARIED
from ci.model.errors import TrialFailure
from ci.model.trial import Outcome


class CoverageGate(Gate):
    """Holds the sweep before it to a number of cases, and to every regime of the host side.

    Where the unmodified operator refuses further cases, or fails on them, there is nothing to
    cover; what only costs too much is not known, and that is no reason to believe in it.
    """

    name = "coverage"
    phase = "confirm"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses a candidate of which too little was tried because that costs too much."""
        standard = subject.standard
        found = subject.work.sweeps.get("confirm")
        if found is None or not standard.changed(subject.candidate.files):
            return None
        least = min(LEAST_VARIED, standard.settings.varied_cases)
        if found.costly and len(found.cases) < least:
            return self.refuse(
                Outcome.REJECTED,
                f"Only {len(found.cases)} varied cases could be tried, of {least} at least; "
                f"{sum(found.costly.values())} more would cost too much.",
                evidence="coverage",
            )
        if found.untried:
            return self.refuse(
                Outcome.REJECTED,
                "No case that is small enough reaches what the host side does for: "
                f"{'; '.join(found.untried[:4])}.",
                evidence="coverage",
            )
        return None
