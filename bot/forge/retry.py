"""Patience with a forge: what is tried again, how often, and how long is waited."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    wait_exponential_jitter,
)

from bot.forge.errors import ForgeError

Answer = TypeVar("Answer")

ATTEMPTS: Final = 5
# Seconds, in all. A forge that asks for more patience than this is asked again by the next poll or
# job, not by a process that sleeps.
LONGEST_WAIT_S: Final = 90.0
_BACKOFF: Final = wait_exponential_jitter(multiplier=0.5, max=20, jitter=0.5)


def patiently(
    call: Callable[[], Answer],
    *,
    write: bool = False,
    sleep: Callable[[float], None] = time.sleep,
) -> Answer:
    """`call()`, tried again when the forge limits the rate or is out of order for a moment.

    A write is only tried again when the forge said that it did not do it (the rate limit): one
    whose answer got lost may have been done, and a comment must not appear twice.
    """

    def again(problem: BaseException) -> bool:
        if not isinstance(problem, ForgeError):
            return False
        return problem.kind == "rate_limited" or (problem.kind == "unavailable" and not write)

    def wait(state: RetryCallState) -> float:
        problem = state.outcome.exception() if state.outcome else None
        asked = problem.retry_after if isinstance(problem, ForgeError) else None
        return asked if asked is not None else _BACKOFF(state)

    def enough(state: RetryCallState) -> bool:
        slept = state.idle_for + state.upcoming_sleep
        return state.attempt_number >= ATTEMPTS or slept > LONGEST_WAIT_S

    trying = Retrying(
        retry=retry_if_exception(again),
        stop=enough,
        wait=wait,
        sleep=sleep,
        reraise=True,
    )
    return trying(call)
