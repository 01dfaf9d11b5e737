"""What a look decides, and that all looks together err no more often than planned."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from ci.judge.paired.plan import Plan


def test_the_looks_spend_the_whole_error_and_no_more() -> None:
    plan = Plan()
    assert sum(plan.spend(0.005, n) for n in plan.looks) == pytest.approx(0.005)


def test_a_plan_whose_error_is_not_attainable_is_refused() -> None:
    with pytest.raises(ValidationError, match="10 pairs attain no p below 0.00098"):
        Plan(looks=(10,), false_faster=0.0005)
    with pytest.raises(ValidationError, match="at least 10 pairs"):
        Plan(looks=(5, 10))


def test_looking_often_at_equal_programs_errs_as_rarely_as_planned() -> None:
    plan = Plan(minimum_effect=0.0, false_faster=0.02)
    logs = np.random.default_rng(1).standard_t(2, (4000, plan.looks[-1])) / 50
    called = np.zeros(4000, dtype=bool)
    for look in plan.looks:
        called |= plan.decide(logs[:, :look], 0.0).faster
    # Two standard errors of the simulation above what is planned; spending it all at every look
    # would give three times as many.
    assert 0.003 < called.mean() < 0.02 + 2 * (0.02 / 4000) ** 0.5


def test_nothing_below_the_floor_is_called_faster() -> None:
    logs = np.full((1, 10), np.log(1.03))
    plan = Plan()
    assert plan.decide(logs, 0.02).faster.all()
    assert not plan.decide(logs, 0.04).faster.any()


def test_a_gain_that_must_be_found_is_not_given_up_for_a_large_floor() -> None:
    found = Plan().decide(np.full((1, 10), np.log(1.12)), 0.2)
    assert not found.faster.any()
    assert found.not_faster.all()
    assert not Plan().decide(np.full((1, 10), np.log(1.45)), 0.2).not_faster.any()


def test_too_few_pairs_leave_the_verdict_open_as_data() -> None:
    found = Plan().decide(np.full(3, 0.5), 0.02).paired(3, 0.02, {"throttled": 7})
    assert found.verdict == "unknown"
    assert type(found).model_validate_json(found.model_dump_json()) == found
    assert found.counted == "3 pairs, noise floor 2.0%, dropped: 7 throttled"
