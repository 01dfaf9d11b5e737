"""No more requests than the forge allows, from however many threads."""

from __future__ import annotations

import threading

from bot.forge.limiter import Limiter


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self._lock = threading.Lock()

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.now += seconds


def limiter(most: int, clock: Clock) -> Limiter:
    return Limiter(most, 60.0, clock=lambda: clock.now, sleep=clock.sleep)


def test_what_is_one_too_many_waits_until_the_first_no_longer_counts() -> None:
    clock = Clock()
    one = limiter(2, clock)
    one.take()
    clock.sleep(10)
    one.take()
    assert (one.left(), one.frees_in_s()) == (0, 50.0)
    one.take()
    assert clock.now == 60


def test_threads_together_keep_the_limit() -> None:
    clock = Clock()
    one, sent = limiter(5, clock), list[float]()

    def send() -> None:
        for _ in range(20):
            one.take()
            sent.append(clock.now)

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(sent) == 80
    assert clock.now >= 60 * (80 / 5 - 1)
