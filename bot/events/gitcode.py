"""Deliveries of GitCode: payloads in GitLab's form, HMAC-SHA256 over the body as GitHub signs.

A hook can be set up with a password in place of a signing key; it then comes in a header as
GitLab's does. A signature that is there must fit, whatever else is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.events import github, gitlab
from bot.events.ci import actions_event
from bot.events.model import Event
from bot.events.reading import Fields, delivered, header, load
from bot.events.signature import check_hex, check_token

_SIGNATURE: Final = "X-GitCode-Signature-256"
_TOKEN: Final = "X-GitCode-Token"


def verify(headers: Mapping[str, str], body: bytes, secret: str, now: float = 0.0) -> None:
    """Raise `SignatureError` unless GitCode sent this; `now` is not needed."""
    signature, token = header(headers, _SIGNATURE), header(headers, _TOKEN)
    if signature or not token:
        check_hex(signature, body, secret, _SIGNATURE)
    else:
        check_token(token, secret, _TOKEN)


def parse(headers: Mapping[str, str], body: bytes) -> Event:
    """The event of a delivery; raises `EventError` when it is none."""
    event = gitlab.read(load(headers, body), "gitcode")
    return delivered(event, headers, body, "X-GitCode-Delivery")


def read_ci(name: str, data: Fields) -> Event:
    """The event of a GitCode Actions job, whose payload is in GitHub's form, or in GitLab's."""
    if data.text("object_kind"):
        return gitlab.read(data, "gitcode")
    return github.read(name, data, "gitcode", "comment.user.login|sender.login", "created")


def from_ci(environ: Mapping[str, str]) -> Event:
    """Return the event that started a job of GitCode Actions. Raises `EventError`."""
    return actions_event(environ, "ATOMGIT", read_ci)
