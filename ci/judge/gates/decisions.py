"""Decisions: every comparison that a candidate brings is seen to go both ways, and to be right."""

from __future__ import annotations

from ci.judge.case_driver import Driver
from ci.judge.comparisons import Key, Watched, own_decisions
from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.judge.varied_sweep import WIDE, Taker, known_of
from ci.model.decision import Decision
from ci.model.errors import TrialFailure
from ci.model.result import Decisions
from ci.model.trial import Outcome, Place
from ci.model.workload import WorkloadCase

MOST_COMPARED = 12
"""Cases on which the unmodified operator's comparisons are seen too."""

MOST_GIVEN_UP = 3
"""Decisions that no case was found for, before no more are driven: one is enough to refuse."""

MOST_NAMED = 8


class DecisionsGate(Gate):
    """Builds the candidate so that the compiler reports every comparison of its own code, makes
    cases for those that have gone one way only, and launches the candidate on them.

    What cannot be driven both ways is code that nobody verified.
    """

    name = "decisions"
    phase = "confirm"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses a case that fails, then what stays undecided."""
        standard = subject.standard
        changed = standard.changed(subject.candidate.files)
        if not changed:
            return None
        try:
            now = Watched.of(standard, subject.candidate.files)
            before = Watched.of(standard, {})
        except TrialFailure as stopped:
            return self.signed(stopped)
        if now is None or before is None:
            return None
        cases = _cases(subject)
        for case in cases:
            now.launch(case)
        for case in cases[:MOST_COMPARED]:
            before.launch(case)
        taker = Taker(standard, WIDE)
        taker.cover_regimes()
        driver = Driver(now, known_of(standard, taker), taker)
        asked: dict[Key, bool] = {}
        judged = 0
        while True:
            new, other = own_decisions(now, before, changed)
            open_keys = [k for k in (*new, *other) if k not in asked and not now.both_ways(k)]
            given_up = [k for k, both in asked.items() if not both and k not in driver.refused]
            if not open_keys or driver.failing or len(given_up) >= MOST_GIVEN_UP:
                break
            asked[open_keys[0]] = driver.drive(open_keys[0])
            for case in driver.found[judged:]:
                failure = self._failed(subject, case)
                if failure is not None:
                    return failure
            judged = len(driver.found)
        mine = dict.fromkeys((*new, *other))
        left = [k for k in mine if not now.both_ways(k)]
        undecided = [k for k in left if k not in driver.refused]
        subject.work.decisions = Decisions(
            new=len(mine),
            both=len(mine) - len(left),
            refused=len(left) - len(undecided),
            driven=judged,
            undecided=tuple(_said(now.seen[k]) for k in undecided),
        )
        if not undecided:
            return None
        first = now.seen[undecided[0]]
        why = " within the cost of a check" if undecided[0] in driver.costly else ""
        named = ", ".join(_said(now.seen[k]) for k in undecided[:MOST_NAMED])
        return self.refuse(
            Outcome.REJECTED,
            f"New branches that were taken one way only: {len(undecided)} of {len(mine)}. No case "
            f"was found that takes the other way{why}: {named}.",
            place=Place(file=first.file, line=first.line),
            evidence="unverified code",
        )

    def _failed(self, subject: Subject, case: WorkloadCase) -> TrialFailure | None:
        one = subject.at(case, subject.standard.workload.seeds[0], timed=False)
        failure = one.judged()
        if failure is None:
            return None
        cause = failure.refusal
        return self.refuse(
            failure.outcome,
            "It fails on a case that takes a new branch the other way "
            f"({failure.outcome.value}): {cause.sentence}",
            place=cause.place,
            evidence=cause.evidence,
        )


def _cases(subject: Subject) -> list[WorkloadCase]:
    swept = [before.case for sweep in subject.work.sweeps.values() for _, before in sweep.cases]
    return [*subject.standard.workload.cases, *swept]


def _said(one: Decision) -> str:
    pair = one.below or one.above or (one.same, one.same)
    return f"{one.file}:{one.line} (compares {pair[0]:.10g} with {pair[1]:.10g})"
