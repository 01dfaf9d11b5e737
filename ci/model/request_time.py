"""Bounds a whole request: what sends its answer, or the head of it, a byte a second is given up.

A timeout of a socket is one of each piece, so it begins again with every byte.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Any, Self


class RequestTime:
    """Cuts the connections of a request when its time is over; a context manager that ends it."""

    def __init__(self, seconds: float) -> None:
        """The time begins now."""
        self.over = False
        """Whether the connections were cut."""
        self._lock = threading.Lock()
        self._lines: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True
        self._timer.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def uses(self, line: socket.socket) -> None:
        """Note a connection of the request; TLS may go on in another object of the same one."""
        with self._lock:
            self._lines.append(line.dup())
            if self.over:
                self._shut()

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Note the connections that httpx makes: the extension `trace` of a request."""
        if event == "connection.connect_tcp.complete":
            self.uses(info["return_value"].get_extra_info("socket"))

    def end(self) -> None:
        """Leave the connections to themselves."""
        self._timer.cancel()
        with self._lock:
            for line in self._lines:
                line.close()
            self._lines = []

    def _cut(self) -> None:
        with self._lock:
            self.over = True
            self._shut()

    def _shut(self) -> None:
        for line in self._lines:
            with suppress(OSError):  # the other side has ended it
                line.shutdown(socket.SHUT_RDWR)
