"""Who sent a delivery: comparisons in constant time, and a window against replays."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import Final

from bot.events.model import SignatureError

# Seconds that a signed time may differ from ours, either way; what Standard Webhooks recommends.
WINDOW_S: Final = 300
# What GitLab's signing tokens begin with.
SIGNING: Final = "whsec_"


def need(secret: str) -> bytes:
    """The secret's bytes; raises `SignatureError` when there is none, for nothing is then proven.

    An empty secret would make every signature right.
    """
    if not secret:
        raise SignatureError("No webhook secret is configured, so nothing can be verified.")
    return secret.encode()


def same(given: str, expected: str) -> bool:
    """Whether two texts are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(given.encode(errors="surrogateescape"), expected.encode())


def check_hex(given: str, body: bytes, secret: str, name: str) -> None:
    """`sha256=<hex HMAC-SHA256 of the body>`, as GitHub and GitCode sign."""
    expected = "sha256=" + hmac.new(need(secret), body, hashlib.sha256).hexdigest()
    if not given:
        raise SignatureError(f"The delivery has no {name}.")
    if not same(given.lower(), expected):
        raise SignatureError(f"The delivery's {name} does not fit its content and our secret.")


def check_token(given: str, secret: str, name: str) -> None:
    """The secret itself, as GitLab sends it."""
    need(secret)
    if not given:
        raise SignatureError(f"The delivery has no {name}.")
    if not same(given, secret):
        raise SignatureError(f"The delivery's {name} is not our secret.")


def check_standard(
    delivery: str, timestamp: str, signatures: str, body: bytes, secret: str, now: float
) -> None:
    """Standard Webhooks: HMAC-SHA256 over `<id>.<seconds>.<body>`, one of several may fit."""
    check_window(timestamp, now)
    if not delivery:
        raise SignatureError("The delivery has no webhook-id.")
    try:
        key = base64.b64decode(secret.removeprefix(SIGNING), validate=True)
    except (binascii.Error, ValueError):
        raise SignatureError(f"The configured signing token is no {SIGNING}<base64>.") from None
    if not key:
        raise SignatureError("The configured signing token is empty.")
    content = f"{delivery}.{timestamp}.".encode(errors="surrogateescape") + body
    expected = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    if not any(same(given, f"v1,{expected}") for given in signatures.split()):
        raise SignatureError("No webhook-signature fits the delivery and our signing token.")


def check_window(timestamp: str, now: float) -> None:
    """`timestamp`, in seconds, must be about now."""
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 20):
        raise SignatureError("The delivery has no time that could be checked.")
    if abs(int(timestamp) - now) > WINDOW_S:
        raise SignatureError(
            f"The delivery was signed more than {WINDOW_S} s away from now; it is a replay, or a"
            " clock is wrong."
        )
