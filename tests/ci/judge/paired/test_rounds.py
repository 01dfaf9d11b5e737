"""Samples are taken in turn, in an order that a coin decides, until a look at them decides."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ci.judge.paired.rounds import MEAN, Rounds, Side, take_rounds
from ci.model.launch import Sample

FLOORS = {"a": 0.02, "b": 0.02, MEAN: 0.02}


class Device:
    """Gives times with 2 % scatter, and remembers in which order it was asked."""

    def __init__(self, factor: dict[str, float], spoil: Callable[[Sample], Sample] = lambda s: s):
        self.asked: list[tuple[Side, str]] = []
        self.factor, self.spoil = factor, spoil
        self.random = np.random.default_rng(3)

    def take(self, side: Side, case: str) -> Sample:
        self.asked.append((side, case))
        us = 10.0 * self.random.normal(1.0, 0.02)
        return self.spoil(Sample(us * (self.factor[case] if side == "candidate" else 1.0), 1.0))

    def rounds(self, **how: int) -> Rounds:
        return take_rounds(self.take, dict.fromkeys(self.factor, 1.0), FLOORS, seed=1, **how)


def test_programs_take_turns_and_neither_always_goes_first() -> None:
    device = Device({"a": 0.8})
    device.rounds()
    firsts = [side for side, _ in device.asked[::2]]
    assert all({x, y} == {"baseline", "candidate"} for (x, _), (y, _) in zip(
        device.asked[::2], device.asked[1::2], strict=True))  # fmt: skip
    assert 2 <= firsts.count("baseline") <= len(firsts) - 2


def test_a_loser_ends_at_the_first_look() -> None:
    device = Device({"a": 1.05})
    assert device.rounds().mean.verdict == "not faster"
    assert len(device.asked) == 2 * 10


def test_a_gain_over_all_cases_is_found() -> None:
    found = Device({"a": 0.85, "b": 0.95}).rounds()
    assert found.mean.verdict == "faster"
    assert found.mean.ratio == pytest.approx((1 / 0.85 / 0.95) ** 0.5, rel=0.02)
    assert found.found["a"].ratio > found.found["b"].ratio


def test_a_case_that_surely_lost_ends_it_although_the_mean_gains() -> None:
    device = Device({"a": 0.65, "b": 1.2})
    found = device.rounds()
    assert found.mean.ratio > 1.0
    assert len(device.asked) == 2 * 2 * 10
    assert found.found["b"].high < 1 / 1.02


def test_throttled_rounds_are_taken_again_and_told() -> None:
    turn = iter(range(10_000))

    def every_tenth(sample: Sample) -> Sample:
        slow = next(turn) % 10 == 0
        return sample._replace(us=sample.us * 1.25, clock=0.8) if slow else sample

    found = Device({"a": 1.0}, every_tenth).rounds(most_looks=1)
    assert found.mean.pairs == 10
    assert set(found.mean.dropped) == {"throttled"}


def test_a_device_that_is_always_shared_decides_nothing_and_is_not_asked_for_ever() -> None:
    device = Device({"a": 0.5}, lambda s: s._replace(contended=True))
    found = device.rounds()
    assert found.mean.verdict == "unknown"
    assert found.mean.dropped == {"contended": 20}
    assert len(device.asked) == 2 * 20
