"""The way to a forge for all clients: answers of bounded size and time, no proxy to this machine.

An address of this machine may be asked without TLS, for nothing leaves the machine. A proxy that
the environment names for all hosts would carry the token over the network in the clear.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from github.Requester import (
    HTTPRequestsConnectionClass,
    HTTPSRequestsConnectionClass,
    Requester,
)
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from bot.forge.errors import ForgeError
from ci.model.loopback import is_loopback
from ci.model.request_time import RequestTime

MOST_BYTES: Final = 200 << 20
"""Most bytes of one answer, unpacked; a file of 100 MB comes as 133 MB of Base64."""
LONGEST_S: Final = 120.0
"""Seconds after which a request whose answer still comes is given up."""
_PIECE: Final = 1 << 16


_NOW: Final = threading.local()
"""The `RequestTime` of the request that this thread makes."""


class _Timed:
    """A connection that the time of each of its requests can cut."""

    def request(self, *given: Any, **named: Any) -> Any:
        line = getattr(self, "sock", None)
        if line is not None:  # it was made for an earlier request
            _NOW.time.uses(line)
        return super().request(*given, **named)  # type: ignore[misc]

    def _new_conn(self) -> socket.socket:
        line: socket.socket = super()._new_conn()  # type: ignore[misc]
        _NOW.time.uses(line)
        return line


class _TimedClear(_Timed, HTTPConnection):
    pass


class _TimedTls(_Timed, HTTPSConnection):
    pass


class _ClearPool(HTTPConnectionPool):
    ConnectionCls = _TimedClear


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _TimedTls


def _timed(manager: PoolManager) -> None:
    manager.pool_classes_by_scheme = {"http": _ClearPool, "https": _TlsPool}


class Way(HTTPAdapter):
    """Sends one request of `requests` and reads the whole answer, within `LONGEST_S`."""

    def init_poolmanager(self, *given: Any, **named: Any) -> None:
        """Make the pools of connections."""
        super().init_poolmanager(*given, **named)
        _timed(self.poolmanager)

    def proxy_manager_for(self, *given: Any, **named: Any) -> Any:
        """Return the pools of connections to a proxy."""
        manager = super().proxy_manager_for(*given, **named)
        _timed(manager)
        return manager

    def send(
        self, request: requests.PreparedRequest, *given: Any, **named: Any
    ) -> requests.Response:
        """Raises `ForgeError` for an answer that is too large, or does not end."""
        if is_loopback(urlsplit(request.url or "").hostname or ""):
            named["proxies"] = {}
        with RequestTime(LONGEST_S) as _NOW.time:
            try:
                answer = self._whole(request, *given, **named)
            except requests.RequestException:
                if not _NOW.time.over:
                    raise
            else:
                if not _NOW.time.over:  # a line that was cut looks like the end of an answer
                    return answer
        raise _late()

    def _whole(
        self, request: requests.PreparedRequest, *given: Any, **named: Any
    ) -> requests.Response:
        answer = super().send(request, *given, **named | {"stream": True})
        try:
            answer._content = b"".join(_pieces(answer))
            answer._content_consumed = True  # so that the connection is kept
        except HTTPError as problem:
            raise requests.ConnectionError(problem, request=request) from problem
        finally:
            answer.close()
        return answer


def _pieces(answer: requests.Response) -> Iterator[bytes]:
    """What has come of a body, piece by piece, until it ends."""
    size = 0
    while piece := answer.raw.read1(_PIECE, decode_content=True):
        size += len(piece)
        if size > MOST_BYTES:
            raise ForgeError(
                f"The forge's answer has more than {MOST_BYTES >> 20} MiB.", kind="unavailable"
            )
        yield piece


def _late() -> ForgeError:
    said = f"The forge's answer did not end within {LONGEST_S:.0f} s."
    return ForgeError(said, kind="unavailable")


def mounted(session: requests.Session) -> None:
    """Let a session go this way alone."""
    for scheme in ("https://", "http://"):
        session.mount(scheme, Way(max_retries=0))


class _Clear(HTTPRequestsConnectionClass):
    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        mounted(self.session)


class _Tls(HTTPSRequestsConnectionClass):
    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        mounted(self.session)


_LOCK: Final = threading.Lock()


@contextmanager
def pygithub() -> Iterator[None]:
    """Clients of PyGithub that are made meanwhile go this way, and keep their connections."""
    with _LOCK:
        Requester.injectConnectionClasses(_Clear, _Tls)
        try:
            yield
        finally:
            Requester.resetConnectionClasses()
