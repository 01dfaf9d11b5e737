"""More seeds: the outputs are right on inputs that no trial has seen."""

from __future__ import annotations

import hashlib

from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.model.errors import TrialFailure
from ci.model.trial import Candidate


class MoreSeedsGate(Gate):
    """Launches every case on the workload's seeds and on further ones."""

    name = "more_seeds"
    phase = "confirm"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses the first launch that fails."""
        for one in subject.in_order(subject.workload_on(seeds_of(subject)), timed=False):
            failure = one.judged()
            if failure is not None:
                return self.signed(failure)
        return None


def seeds_of(subject: Subject) -> tuple[int, ...]:
    """The workload's seeds and `thorough_seeds` further ones.

    Those follow from the candidate's own text, so that no candidate can hold the answers for them;
    equal candidates get equal ones.
    """
    standard = subject.standard
    text = Candidate(files=standard.changed(subject.candidate.files)).hash
    seeds = list(standard.workload.seeds)
    most = len(seeds) + standard.settings.thorough_seeds
    number = 0
    while len(seeds) < most:
        drawn = hashlib.sha256(f"{text} {number}".encode()).digest()
        seed = int.from_bytes(drawn[:4], "big")
        number += 1
        if seed not in seeds:
            seeds.append(seed)
    return tuple(seeds)
