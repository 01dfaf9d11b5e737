from __future__ import annotations

import pytest

from bot.forge.errors import ForgeError, Kind
from bot.forge.retry import ATTEMPTS, LONGEST_WAIT_S, patiently


class Failing:
    """Fails `times` times in one way, then answers."""

    def __init__(self, times: int, kind: Kind, retry_after: float | None = None) -> None:
        self.left, self.kind, self.retry_after, self.calls = times, kind, retry_after, 0

    def __call__(self) -> str:
        self.calls += 1
        if self.left:
            self.left -= 1
            raise ForgeError("no", kind=self.kind, retry_after=self.retry_after)
        return "yes"


def test_it_waits_as_long_as_the_forge_asks() -> None:
    slept: list[float] = []
    assert patiently(Failing(2, "rate_limited", 7.0), sleep=slept.append) == "yes"
    assert slept == [7.0, 7.0]


def test_without_a_time_it_waits_longer_each_time() -> None:
    slept: list[float] = []
    patiently(Failing(4, "unavailable"), sleep=slept.append)
    assert slept == sorted(slept)
    assert 0.5 <= slept[0] <= 1.0 < slept[-1] <= 20


def test_it_gives_up_after_some_attempts() -> None:
    call = Failing(99, "unavailable")
    with pytest.raises(ForgeError):
        patiently(call, sleep=lambda _: None)
    assert call.calls == ATTEMPTS


def test_it_does_not_sleep_longer_than_that_in_all() -> None:
    slept: list[float] = []
    with pytest.raises(ForgeError):
        patiently(Failing(9, "rate_limited", LONGEST_WAIT_S * 0.6), sleep=slept.append)
    assert len(slept) == 1


def test_it_does_not_sleep_through_a_long_limit() -> None:
    call = Failing(1, "rate_limited", LONGEST_WAIT_S + 1)
    with pytest.raises(ForgeError):
        patiently(call, sleep=lambda _: pytest.fail("slept"))
    assert call.calls == 1


@pytest.mark.parametrize("kind", ["not_found", "forbidden", "conflict", "refused"])
def test_a_clear_no_is_final(kind: Kind) -> None:
    call = Failing(1, kind)
    with pytest.raises(ForgeError):
        patiently(call, sleep=lambda _: None)
    assert call.calls == 1


@pytest.mark.parametrize(("kind", "calls"), [("unavailable", 1), ("rate_limited", 2)])
def test_a_write_is_tried_again_only_when_it_was_not_done(kind: Kind, calls: int) -> None:
    call = Failing(1, kind)
    try:
        patiently(call, write=True, sleep=lambda _: None)
    except ForgeError:
        assert calls == 1
    assert call.calls == calls
