"""A gain over the members of an ensemble, each of which times both sides alike."""

from __future__ import annotations

import pytest

from ci.model.ensemble import JOINT
from ci.model.trial import Measurement
from ci.model.uncertainty import TOGETHER, uncertainty
from tests.bot.make import result


def measured(*members_us: dict[str, float]) -> Measurement:
    base = result().baseline.measurement
    assert base is not None
    return base.over({case.case: m for case, m in zip(base.cases, members_us, strict=True)})


STATES = ("cold", "warm")
BEFORE = measured({"cold": 8.0, "a.b = 2": 16.0}, {"cold": 2.0, "a.b = 2": 4.0})


def test_what_both_sides_lose_alike_is_no_uncertainty() -> None:
    found = uncertainty(BEFORE, measured({"cold": 4.0, "a.b = 2": 8.0}, {"cold": 1, "a.b = 2": 2}))
    assert found is not None
    assert (found.low, found.speedup, found.high) == (2, 2, 2)
    assert found.hangs_on == ()


def test_the_ends_are_those_of_the_mean_over_cases() -> None:
    found = uncertainty(BEFORE, measured({"cold": 4.0, "a.b = 2": 6}, {"cold": 1, "a.b = 2": 3}))
    assert found is not None
    assert found.low == pytest.approx((16 / 6 * 4 / 3) ** 0.5) and found.speedup == found.high == 2
    assert (found.lowest, found.highest, found.hangs_on) == ("a.b = 2", "cold", ())
    lost = uncertainty(BEFORE, measured({"cold": 4.0, "a.b = 2": 15}, {"cold": 1, "a.b = 2": 4}))
    assert lost is not None and lost.hangs_on == ("a.b",)


def test_the_interval_holds_the_speedup_also_where_every_member_is_better() -> None:
    found = uncertainty(BEFORE, measured({"cold": 8.0, "a.b = 2": 8}, {"cold": 2, "a.b = 2": 2}))
    assert found is not None and found.low == found.speedup == 1 and found.hangs_on == ()


def test_draws_of_all_constants_widen_the_interval_and_are_never_named() -> None:
    draws = {f"{JOINT}, draw {n}, cold": 8.0 for n in range(20)}
    ends = {name: 8 / (1 + n / 10) for n, name in enumerate(draws)}
    before = measured(
        {"cold": 8.0, "a.b = 2": 8.0, **draws}, dict.fromkeys(["cold", "a.b = 2", *draws], 1.0)
    )
    after = measured(
        {"cold": 4.0, "a.b = 2": 5.0, **ends},
        {"cold": 0.5, "a.b = 2": 0.625, **{n: t / 8 for n, t in ends.items()}},
    )
    found = uncertainty(before, after)
    assert found is not None
    # The middle 90 % of 1.0 to 2.9; a single constant gives 1.6.
    assert (found.low, found.high) == pytest.approx((1.095, 2.805))
    assert (found.lowest, found.highest) == ("a.b = 2", "cold")


def test_without_the_same_members_on_both_sides_nothing_is_said() -> None:
    plain = measured({}, {})
    assert uncertainty(plain, plain) is None
    assert uncertainty(BEFORE, plain) is None
    assert uncertainty(BEFORE, measured({"cold": 4.0}, {"cold": 1.0})) is None


WORLDS = [f"{JOINT}, draw {number}, {state}" for number in range(1, 21) for state in STATES]


@pytest.mark.parametrize(
    ("gains", "doubt"),
    [
        ({}, None),
        ({"warm": 1.0}, None),
        ({"warm": 0.99}, "warm"),
        ({"a.b = 2": 1.0}, "a.b = 2"),
        ({name: 0.97 for name in WORLDS if "draw 1," in name}, None),
        ({name: 0.97 for name in WORLDS if "draw 1" in name}, TOGETHER),
        ({name: 1.001 for name in WORLDS if "warm" in name}, None),
        ({name: 1.001 for name in WORLDS if "draw 1" in name}, TOGETHER),
    ],
)
def test_a_gain_is_sure_where_no_state_loses_and_no_constant_takes_it_away(
    gains: dict[str, float], doubt: str | None
) -> None:
    names = [*STATES, "a.b = 2", *WORLDS]
    before = measured(*[dict.fromkeys(names, 1.2)] * 2)
    after = measured(*[{name: 1.2 / gains.get(name, 1.2) for name in names}] * 2)
    found = uncertainty(before, after)
    assert found is not None
    assert (found.doubt and found.doubt[0]) == doubt
