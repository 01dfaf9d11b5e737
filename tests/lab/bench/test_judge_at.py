"""Runs that are side by side judge in their own process, but for a cluster's workers."""

from __future__ import annotations

from ci.judge.evaluate import Evaluator
from ci.judge.pool_evaluator import BackendChoice
from ci.testing.scale_shift import OPERATOR, WORKLOAD
from lab.bench.judge_at import judge_at

SIM = BackendChoice(backend="sim", device="910B4")


def test_this_host_s_workers_are_no_more_processes() -> None:
    assert isinstance(judge_at(OPERATOR, WORKLOAD, SIM, "local:2"), Evaluator)
