"""Deliveries of Gitee: its signature covers a time and nothing else.

Whoever has seen one delivery can send any content with its signature for a while. So an event of
Gitee is only a hint that something happened: the forge must be asked what it was.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Mapping

from bot.events.model import Event, SignatureError
from bot.events.reading import Fields, digest, header, load
from bot.events.signature import check_window, need, same


def verify(headers: Mapping[str, str], body: bytes, secret: str, now: float = 0.0) -> None:
    """Raise `SignatureError` unless somebody with the secret signed about now."""
    key = need(secret)
    given, stamp = header(headers, "X-Gitee-Token"), header(headers, "X-Gitee-Timestamp")
    check_window(stamp, 0.001, now or time.time())
    made = hmac.new(key, f"{stamp}\n{secret}".encode(), hashlib.sha256).digest()
    if not same(given, base64.b64encode(made).decode()):
        raise SignatureError("The delivery's X-Gitee-Token does not fit its time and our secret.")


def parse(headers: Mapping[str, str], body: bytes) -> Event:
    """Repository, number and kind, as a hint; raises `EventError` when there are none."""
    data = load(headers, body)
    return _read(data).model_copy(update={"digest": digest(body), "hint": True})


def _read(data: Fields) -> Event:
    common = Event(
        forge="gitee",
        kind="other",
        repository=data.repository("repository", "full_name"),
        sender=data.text("sender", "login"),
    )
    name = data.text("hook_name")
    number = data.number("pull_request", "number")
    if name == "push_hooks":
        return common.model_copy(update={"kind": "push", "ref": data.text("ref")})
    if name == "merge_request_hooks" and number:
        return common.model_copy(update={"kind": "merge_request", "number": number})
    if name == "note_hooks" and number:
        comment = data.number("comment", "id")
        return common.model_copy(
            update={"kind": "comment", "number": number, "comment_id": comment}
        )
    return common
