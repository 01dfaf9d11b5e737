from __future__ import annotations

import numpy as np
import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.more_seeds import MoreSeedsGate, seeds_of
from ci.model.trial import Candidate, Outcome
from ci.testing.gate import GateContract
from ci.testing.scale_shift import KERNEL, WORKLOAD, changed


@pytest.fixture
def learnt_by_heart(evaluator: Evaluator) -> Candidate:
    """Right only on inputs that begin as those of the workload's seeds do."""
    firsts = []
    for seed in WORKLOAD.seeds:
        values = evaluator.references.of(WORKLOAD.cases[0], seed).inputs[0]
        assert isinstance(values, np.ndarray)
        firsts.append(f"xGm_.GetValue(0) == {float(values.ravel()[0])!r}f")
    known = f"GetBlockIdx() != 0 || {' || '.join(firsts)}"
    return changed("1.0f, tileLength_", f"({known}) ? 1.0f : 1.5f, tileLength_")


class TestMoreSeedsGate(GateContract):
    gate = MoreSeedsGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator, learnt_by_heart: Candidate) -> Subject:
        return evaluator.subject(learnt_by_heart)


def test_only_further_seeds_find_what_was_learnt_by_heart(
    evaluator: Evaluator, learnt_by_heart: Candidate
) -> None:
    assert evaluator.evaluate(learnt_by_heart, 1).outcome is Outcome.OK
    failure = MoreSeedsGate().check(evaluator.subject(learnt_by_heart))
    assert failure and failure.outcome is Outcome.WRONG_RESULT
    assert failure.refusal.place.seed not in WORKLOAD.seeds


def test_the_further_seeds_follow_from_the_candidate(evaluator: Evaluator) -> None:
    # Seeds that are known beforehand are seeds whose answers a candidate can hold.
    same = Candidate(files={KERNEL: evaluator.operator.read(KERNEL)})
    one, two, other = (
        seeds_of(evaluator.subject(candidate))
        for candidate in (Candidate(), same, changed("2.0f", "2.00f"))
    )
    assert one == two
    assert one[: len(WORKLOAD.seeds)] == WORKLOAD.seeds
    assert len(set(one)) == len(WORKLOAD.seeds) + evaluator.standard.settings.thorough_seeds
    assert not set(one[2:]) & set(other[2:])
