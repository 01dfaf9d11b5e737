"""Edges: what the unmodified operator does at the edge of its domain goes on working."""

from __future__ import annotations

from itertools import islice

from ci.judge.gates.base import Gate
from ci.judge.subject import Subject
from ci.judge.varied import edge_cases
from ci.model.errors import TrialFailure


class EdgesGate(Gate):
    """Launches the candidate on the edge cases that the unmodified operator passes."""

    name = "edges"
    phase = "confirm"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses the first that only the candidate fails.

        A case that the unmodified operator does not take is passed over; one that it gets wrong is
        noted as a defect of its own and not held against the candidate.
        """
        standard, work = subject.standard, subject.work
        seed = standard.workload.seeds[0]
        cases = edge_cases(standard.operator, standard.workload)
        work.edge_cases, work.baseline_defects = 0, ()
        for case in islice(cases, standard.settings.edge_cases):
            defect = standard.baseline.defect(case, seed)
            if defect:
                work.baseline_defects += (defect,)
            if defect != "":
                continue
            failure = subject.at(case, seed, timed=False).judged()
            if failure is not None:
                return self.signed(failure)
            work.edge_cases += 1
        return None
