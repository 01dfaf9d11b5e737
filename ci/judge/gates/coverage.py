"""Coverage: what was varied is enough to say anything of a candidate beyond its workload."""

from __future__ import annotations

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.judge.varied_sweep import LEAST_VARIED
from ci.model.amount import amount
from ci.model.errors import TrialFailure
from ci.model.trial import Outcome

MOST_NAMED = 4
"""Regimes that a refusal names."""

UNVERIFIED = "coverage"
"""The evidence of a refusal that finds no fault, but too little to go by."""


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
        said = []
        if found.untried:
            said.append(
                f"{len(found.untried)} of {amount(found.regimes, 'way')} in which the host"
                " side treats such "
                f"inputs cost too much to be tried: {'; '.join(found.untried[:MOST_NAMED])}."
            )
        if found.costly and len(found.cases) < least:
            costly = "; ".join(
                f"{kind}: {', '.join(one.reasons)}"
                for kind, one in found.turned_down.items()
                if one.costly
            )
            said.append(
                f"Only {len(found.cases)} varied cases were tried, of {least} at least ({costly})."
            )
        if not said:
            return None
        return self.refuse(Outcome.REJECTED, " ".join(said), evidence=UNVERIFIED)
