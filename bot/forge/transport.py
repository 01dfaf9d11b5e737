"""The way to a forge for all clients: answers of bounded size and time, no proxy to this machine.

An address of this machine may be asked without TLS, for nothing leaves the machine. A proxy that
the environment names for all hosts would carry the token over the network in the clear.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from github.Requester import (
    HTTPRequestsConnectionClass,
    HTTPSRequestsConnectionClass,
    Requester,
)
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError

from bot.forge.errors import ForgeError
from ci.model.loopback import is_loopback

MOST_BYTES: Final = 200 << 20
"""Most bytes of one answer, unpacked; a file of 100 MB comes as 133 MB of Base64."""
LONGEST_S: Final = 120.0
"""Seconds after which a body that still comes is given up."""
_PIECE: Final = 1 << 16


class Way(HTTPAdapter):
    """Sends one request of `requests` and reads the whole answer."""

    def send(
        self, request: requests.PreparedRequest, *given: Any, **named: Any
    ) -> requests.Response:
        """Raises `ForgeError` for a body that is too large, or does not end."""
        if is_loopback(urlsplit(request.url or "").hostname or ""):
            named["proxies"] = {}
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
    size, ends = 0, time.monotonic() + LONGEST_S
    while piece := answer.raw.read1(_PIECE, decode_content=True):
        size += len(piece)
        if size > MOST_BYTES:
            raise ForgeError(
                f"The forge's answer has more than {MOST_BYTES >> 20} MiB.", kind="unavailable"
            )
        if time.monotonic() > ends:
            raise ForgeError(
                f"The forge's answer did not end within {LONGEST_S:.0f} s.", kind="unavailable"
            )
        yield piece


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


_LOCK: Final = Lock()


@contextmanager
def pygithub() -> Iterator[None]:
    """Clients of PyGithub that are made meanwhile go this way, and keep their connections."""
    with _LOCK:
        Requester.injectConnectionClasses(_Clear, _Tls)
        try:
            yield
        finally:
            Requester.resetConnectionClasses()
