"""Keeps requests below a forge's limit, so that it never has to refuse one."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable


class Limiter:
    """At most `most` requests in any `window_s` seconds; the next one waits for its turn.

    Safe to share by threads.
    """

    def __init__(
        self,
        most: int,
        window_s: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.most = most
        self._window_s = window_s
        self._clock = clock
        self._sleep = sleep
        self._sent: deque[float] = deque()
        self._lock = threading.RLock()

    def take(self) -> None:
        """Wait until one more request is allowed, and count it."""
        while True:
            with self._lock:
                if self.left() > 0:
                    self._sent.append(self._clock())
                    return
                wait = self.frees_in_s()
            self._sleep(max(0.0, wait))

    def left(self) -> int:
        """Requests that would not wait."""
        with self._lock:
            now = self._clock()
            while self._sent and self._sent[0] <= now - self._window_s:
                self._sent.popleft()
            return max(0, self.most - len(self._sent))

    def frees_in_s(self) -> float:
        """Seconds until the oldest request no longer counts; 0 when none does."""
        with self._lock:
            return self._sent[0] + self._window_s - self._clock() if self._sent else 0.0
