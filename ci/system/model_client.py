"""A client for an OpenAI-compatible endpoint that sends one key to one server, and ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import openai
from openai import OpenAI
from pydantic import SecretStr

from ci.model.errors import InputError
from ci.model.loopback import is_loopback
from ci.model.request_time import RequestTime

CONNECT_SECONDS: Final = 15.0
MOST_BYTES: Final = 64 << 20
"""Most bytes of one answer: those of a model have some kB, in pieces of a stream some MB."""

_NO_KEY: Final = "none"  # the client wants one; endpoints that need none ignore it


def model_client(endpoint: str, secret: SecretStr | None, variable: str, seconds: float) -> OpenAI:
    """A client for `endpoint` that sends the key, and nothing else of the environment.

    `variable`: where the key comes from; `seconds`: longest time for one whole answer. Raises
    InputError when the key would cross a network in the clear.
    """
    address = urlsplit(endpoint)
    encrypted, here = address.scheme == "https", is_loopback(address.hostname or "")
    if secret is not None and not encrypted and not here:
        raise InputError(
            f"The endpoint {endpoint} is not https: the key in {variable} would go there in"
            " the clear. Give an https address, or with `key` the name of a variable that is not"
            " set."
        )
    client = OpenAI(
        base_url=endpoint,
        api_key=secret.get_secret_value() if secret is not None else _NO_KEY,
        timeout=openai.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds)),
        max_retries=0,
        # What is packed could be a thousand times as large as what comes.
        default_headers={"Accept-Encoding": "identity"},
        # The sources would go along to wherever a redirection leads; and those for a server of
        # this machine to the environment's proxy, in the clear.
        http_client=_Client(
            seconds,
            follow_redirects=False,
            trust_env=encrypted or not here,
        ),
    )
    client.organization = client.project = None  # the library takes them from the environment
    return client


class _Client(openai.DefaultHttpxClient):
    """The library's own client, whose requests end: it waits for each piece, however many come."""

    def __init__(self, seconds: float, **given: Any) -> None:
        # No connection is kept: one that a request did not make cannot be cut with its time.
        alone = type(openai.DEFAULT_CONNECTION_LIMITS)(max_keepalive_connections=0)
        super().__init__(limits=alone, **given)
        self._seconds = seconds
        self.event_hooks = {"response": [self._bound]}

    def send(self, request: Any, **given: Any) -> Any:
        """Raise TimeoutError for an answer that has not ended in time."""
        bound = RequestTime(self._seconds)
        request.extensions = {**request.extensions, "trace": bound.trace, "time": bound}
        try:
            answer: Any = super().send(request, **given)
        except Exception:
            bound.end()
            if bound.over:
                raise self._late() from None
            raise
        if answer.is_closed:
            bound.end()
        else:
            answer.close = partial(_closed, bound, answer.close)
        return answer

    def _late(self) -> TimeoutError:
        return TimeoutError(f"The answer did not end within {self._seconds:g} s")

    def _bound(self, answer: Any) -> None:
        """Let the body of an answer end."""
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise OSError("The answer is packed, which was not asked for")
        pieces, bound = answer.iter_raw, answer.request.extensions["time"]

        def bounded(*given: Any) -> Iterator[bytes]:
            size = 0
            for piece in pieces(*given):
                size += len(piece)
                if size > MOST_BYTES:
                    raise OSError(f"The answer has more than {MOST_BYTES >> 20} MiB")
                yield piece
            if bound.over:  # a line that was cut looks like the end of an answer
                raise self._late()

        answer.iter_raw = bounded


def _closed(bound: RequestTime, close: Callable[[], None]) -> None:
    bound.end()
    close()
