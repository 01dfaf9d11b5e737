"""Steady: the candidate is as fast on other values as on those that it was measured on.

An operator may need more time for some values than for others: then the candidate must not lose
more on them than the unmodified one.
"""

from __future__ import annotations

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.judge.gates.more_seeds import seeds_of
from ci.model.comparison import SLOWER
from ci.model.errors import TrialFailure
from ci.model.trial import Outcome, Place


class SteadyGate(Gate):
    """Holds the times of all seeds against that of the first."""

    name = "steady"
    phase = "confirm"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses a seed whose time is above the measured one by more than `SLOWER`."""
        baseline = subject.standard.baseline
        first, *others = seeds_of(subject)
        for case in subject.standard.workload.cases:
            measured = subject.at(case, first).launched.time
            for seed in others:
                time = subject.at(case, seed).launched.time
                if time.low <= measured.high * (1 + SLOWER):
                    continue
                before, now = baseline.at(case, first).time, baseline.at(case, seed).time
                if time.low <= measured.high * (1 + SLOWER) * now.high / before.low:
                    continue
                return self.refuse(
                    Outcome.REJECTED,
                    f"it takes {measured.median:.3f} µs with the values it was measured on (seed "
                    f"{first}), but {time.median:.3f} µs with those of seed {seed}; the original "
                    f"operator takes {before.median:.3f} and {now.median:.3f} µs.",
                    place=Place(case=case.name, seed=seed),
                    evidence="depends on values",
                )
        return None
