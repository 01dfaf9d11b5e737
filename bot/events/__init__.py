"""Webhooks and CI events: checked, then read into one `Event`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final, Protocol, cast

from bot.events.model import Event, EventError, SignatureError
from bot.forge.kinds import FORGES, forge_of_ci, no_ci

__all__ = ["RECEIVERS", "Event", "EventError", "SignatureError", "from_ci", "receive", "receiver"]

RECEIVERS: Final = tuple(kind.name for kind in FORGES.values() if kind.events)
"""Forges that send events."""


class Receiver(Protocol):
    """What the module of a forge's events offers."""

    def verify(self, headers: Mapping[str, str], body: bytes, secret: str, now: float) -> None:
        """Raise `SignatureError` unless the forge sent this; `now` as in `receive`."""

    def parse(self, headers: Mapping[str, str], body: bytes) -> Event:
        """The event of a delivery; raises `EventError` when it is none."""

    def from_ci(self, environ: Mapping[str, str]) -> Event:
        """What started the job of the forge's CI that we run in; raises `EventError`."""


def receiver(forge: str) -> Receiver:
    """Return the receiver of the events of `forge`, one of RECEIVERS."""
    return cast(Receiver, import_module(FORGES[forge].events))


def receive(
    forge: str, headers: Mapping[str, str], body: bytes, secret: str, now: float = 0.0
) -> Event:
    """The event of a delivery that `forge` sent and nobody else.

    Nothing of the body is read before its signature fits. Raises `SignatureError` when it does not,
    `EventError` when the body is no event. `now` in seconds since 1970; the clock's when 0.
    """
    if forge not in RECEIVERS:
        raise EventError(f"No forge '{forge[:40]}' sends webhooks; known: {', '.join(RECEIVERS)}.")
    chosen = receiver(forge)
    chosen.verify(headers, body, secret, now)
    return chosen.parse(headers, body)


def from_ci(environ: Mapping[str, str]) -> Event:
    """Return the event that started the CI job that we run in.

    Raises `EventError` when this is none of a forge that is known, or its payload cannot be read
    or is about another repository than the job.
    """
    kind = forge_of_ci(environ)
    if kind is None:
        raise EventError(no_ci())
    return receiver(kind.name).from_ci(environ)
