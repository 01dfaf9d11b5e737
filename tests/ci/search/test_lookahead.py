from __future__ import annotations

from pathlib import Path

import pytest

from ci.backend.pool import workers
from ci.judge.pool_evaluator import BackendChoice, PooledEvaluator
from ci.model.settings import OptimizeSettings
from ci.model.trial import Candidate
from ci.proposer.rules.proposer import rules_proposer
from ci.search.optimize import optimize
from ci.search.task import Task
from ci.testing.scale_shift import OPERATOR, WORKLOAD


class _Counting(PooledEvaluator):
    """Notes what was begun and whether it was asked for."""

    def begin(self, candidate: Candidate) -> None:
        self.__dict__.setdefault("first", []).append(candidate.hash)
        super().begin(candidate)


@pytest.mark.long
def test_most_of_what_idle_workers_begin_is_asked_for(tmp_path: Path) -> None:
    settings = OptimizeSettings(budget=6, stage="kernel", learn=False, other_shapes=False)
    sim = BackendChoice(backend="sim", device="910B4")
    with workers("local:2") as pool:
        judge = _Counting(OPERATOR, WORKLOAD, sim, pool)
        task = Task(OPERATOR, WORKLOAD, judge, rules_proposer())
        result = optimize(task, settings, tmp_path)
    begun = set(judge.__dict__["first"])
    asked = {trial.candidate.hash for trial in result.trials}
    assert len(begun & asked) >= 3
    assert len(begun - asked) <= 2, "at the end, and after a step that gained"
