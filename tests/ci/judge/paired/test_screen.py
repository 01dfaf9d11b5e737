"""Disturbed pairs are dropped and told; undisturbed ones never are, however large the gain."""

from __future__ import annotations

import numpy as np

from ci.judge.paired.screen import screen


def test_each_kind_of_disturbance_drops_its_pair_and_is_counted() -> None:
    times = np.full((5, 2), 10.0)
    times[3, 1] = 25.0
    clocks = np.ones((5, 2))
    clocks[0, 0] = 0.8
    clocks[4, 0] = np.nan  # the tools do not say
    contended = np.zeros((5, 2), dtype=bool)
    contended[1, 1] = True
    found = screen(times, clocks, contended)
    assert found.kept.tolist() == [False, False, True, False, True]
    assert found.dropped == {"throttled": 1, "contended": 1, "outlier": 1}


def test_a_program_that_is_ten_times_faster_is_no_outlier() -> None:
    times = np.stack([np.full(20, 100.0), np.full(20, 10.0)], axis=-1)
    assert screen(times).kept.all()


def test_dropping_does_not_ask_which_of_the_pair_is_the_candidate() -> None:
    random = np.random.default_rng(0)
    times = np.exp(random.standard_t(1, (200, 2)))
    assert (screen(times).kept == screen(times[:, ::-1]).kept).all()
