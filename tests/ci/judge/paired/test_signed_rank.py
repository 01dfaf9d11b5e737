"""The test of pairs is the known one: held against scipy, bound for bound."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ci.judge.paired.signed_rank import (
    estimate,
    least_p,
    lower_bound,
    trimmed,
    upper_bound,
    walsh,
)


@pytest.mark.parametrize("pairs", [10, 17, 40])
def test_a_bound_lies_where_the_test_of_scipy_turns(pairs: int) -> None:
    values = np.random.default_rng(pairs).normal(0.3, 1.0, pairs)
    averages, level = walsh(values), 0.01
    for bound, side, outward in (
        (lower_bound(averages, pairs, level), "greater", -1e-9),
        (upper_bound(averages, pairs, level), "less", 1e-9),
    ):
        beyond = stats.wilcoxon(values - (bound + outward), alternative=side, method="exact")
        within = stats.wilcoxon(values - (bound - outward), alternative=side, method="exact")
        assert beyond.pvalue <= level < within.pvalue


def test_the_least_p_is_that_of_pairs_of_one_sign() -> None:
    assert least_p(10) == stats.wilcoxon(np.arange(1.0, 11.0), alternative="greater").pvalue
    assert trimmed(10, least_p(10)) == 0
    assert trimmed(10, least_p(10) * 0.99) == -1


def test_a_level_that_is_not_attainable_bounds_nothing() -> None:
    averages = walsh(np.full(5, 0.7))
    assert lower_bound(averages, 5, 0.001) == -np.inf
    assert upper_bound(averages, 5, 0.001) == np.inf
    assert estimate(averages) == 0.7


def test_many_experiments_are_bounded_at_once() -> None:
    values = np.random.default_rng(0).normal(size=(3, 12))
    together = lower_bound(walsh(values), 12, 0.01)
    assert together.tolist() == [lower_bound(walsh(row), 12, 0.01) for row in values]
