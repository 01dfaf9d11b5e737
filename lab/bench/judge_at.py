"""What judges the runs of a bench."""

from __future__ import annotations

from ci.backend.pool import open_pool
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import EvaluationSettings
from ci.judge.pool_evaluator import BackendChoice, PooledEvaluator
from ci.model.operator import Operator
from ci.model.workload import Workload


def judge_at(
    operator: Operator,
    workload: Workload,
    backend: BackendChoice,
    spec: str,
    *,
    settings: EvaluationSettings | None = None,
    most: int | None = None,
) -> Evaluator | PooledEvaluator:
    """What judges in this process, or, where `spec` is a cluster's, at up to `most` of its workers.

    For runs that are side by side already, each of which stands for one worker of this host.
    """
    if not spec.startswith("ray:"):
        made = backend.made()
        return Evaluator(operator, workload, made, settings=settings)
    pool = open_pool(spec, backend.backend, most=most)
    return PooledEvaluator(operator, workload, backend, pool, settings=settings)
