"""Webhooks and CI events: checked, then read into one `Event`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from bot.events import gitcode, gitee, github, gitlab
from bot.events.ci import from_ci
from bot.events.model import Event, EventError, SignatureError

__all__ = ["RECEIVERS", "Event", "EventError", "SignatureError", "from_ci", "receive"]

Verify = Callable[[Mapping[str, str], bytes, str, float], None]
Parse = Callable[[Mapping[str, str], bytes], Event]

# Forges that send webhooks: how a delivery is verified, then parsed.
RECEIVERS: Final[dict[str, tuple[Verify, Parse]]] = {
    "github": (github.verify, github.parse),
    "gitlab": (gitlab.verify, gitlab.parse),
    "gitcode": (gitcode.verify, gitcode.parse),
    "gitee": (gitee.verify, gitee.parse),
}


def receive(
    forge: str, headers: Mapping[str, str], body: bytes, secret: str, now: float = 0.0
) -> Event:
    """The event of a delivery that `forge` sent and nobody else.

    Nothing of the body is read before its signature fits. Raises `SignatureError` when it does not,
    `EventError` when the body is no event. `now` in seconds since 1970; the clock's when 0.
    """
    if forge not in RECEIVERS:
        raise EventError(f"No forge '{forge[:40]}' sends webhooks; known: {', '.join(RECEIVERS)}.")
    verify, parse = RECEIVERS[forge]
    verify(headers, body, secret, now)
    return parse(headers, body)
