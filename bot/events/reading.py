"""Reading JSON of strangers: every field may be missing, of another type, or hostile."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qs

from bot.events.model import Event, EventError
from ci.model.amount import amount

# Longest delivery that is read, in bytes: GitHub sends no longer ones.
LARGEST: Final = 25 * 1024 * 1024
# Longest texts that are kept, in characters: GitHub's limit of a comment, and of names.
LONGEST_TEXT: Final = 65_536
LONGEST_NAME: Final = 255
# What SQLite and every forge hold.
_LARGEST_NUMBER: Final = 2**63 - 1
_NO_COMMIT: Final = set("0")
_NAME: Final = re.compile(r"[\w.-]+", re.ASCII)


class Fields:
    """A JSON object whose values are taken by path, and are what was asked for or empty."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def value(self, *path: str) -> Any:
        """Whatever is there, or None."""
        found = self._data
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        return found

    def text(self, *path: str, limit: int = LONGEST_NAME) -> str:
        """The text there, cut, with what is no Unicode replaced; empty when it is none."""
        found = self.value(*path)
        if not isinstance(found, str):
            return ""
        return found[:limit].encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def number(self, *path: str) -> int:
        """The positive whole number there, also one written as text; 0 when it is none."""
        found = self.value(*path)
        if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) < 20:
            found = int(found)
        good = isinstance(found, int) and not isinstance(found, bool)
        return found if good and 0 < found <= _LARGEST_NUMBER else 0

    def flag(self, *path: str) -> bool:
        """Whether true is there."""
        return self.value(*path) is True

    def repository(self, *path: str) -> str:
        """The owner/name there (GitLab: groups/name); empty when it could be another path."""
        found = self.text(*path)
        parts = found.split("/")
        plain = all(_NAME.fullmatch(part) and not set(part) <= {"."} for part in parts)
        return found if len(parts) > 1 and plain else ""

    def commit(self, *path: str) -> str:
        """The commit there; empty when it is none, or the one of zeros that means none."""
        found = self.text(*path)
        good = len(found) in (40, 64) and all(c in "0123456789abcdef" for c in found)
        return found if good and set(found) != _NO_COMMIT else ""

    def time(self, *path: str) -> datetime | None:
        """The time there, in UTC; forges write it in more than one way."""
        found = self.value(*path)
        if not isinstance(found, str):
            return None
        plain = found.replace(" UTC", "+00:00").replace("Z", "+00:00")
        with suppress(ValueError, OverflowError):
            read = datetime.fromisoformat(plain)
            return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
        return None


_READERS: Final[Mapping[str, Callable[..., object]]] = {
    "repository": Fields.repository,
    "number": Fields.number,
    "comment_id": Fields.number,
    "text": partial(Fields.text, limit=LONGEST_TEXT),
    "text_before": partial(Fields.text, limit=LONGEST_TEXT),
    "draft": Fields.flag,
    "before": Fields.commit,
    "after": Fields.commit,
    "head": Fields.commit,
    "at": Fields.time,
}


def event_of(
    forge: str, kind: str, data: Fields, places: Mapping[str, str], **more: object
) -> Event:
    """The event whose fields are at `places`: `a.b|c` is what b of a holds, or c when nothing."""
    found: dict[str, object] = {}
    for name, place in places.items():
        read = _READERS.get(name, Fields.text)
        for path in place.split("|"):
            found[name] = read(data, *path.split("."))
            if found[name]:
                break
    return Event.model_validate({"forge": forge, "kind": kind, **found, **more})


def delivered(event: Event, headers: Mapping[str, str], body: bytes, *names: str) -> Event:
    """The event with what tells its delivery from others: the first header of `names` it has."""
    found = next((value for name in names if (value := header(headers, name))), "")
    return event.model_copy(update={"delivery": found[:LONGEST_NAME], "digest": digest(body)})


def header(headers: Mapping[str, str], name: str) -> str:
    """A header's value whatever the case of its name; empty when it is missing."""
    wanted = name.lower()
    return next((value for key, value in headers.items() if key.lower() == wanted), "")


def load(headers: Mapping[str, str], body: bytes) -> Fields:
    """The JSON object of a delivery, also of one that was sent as a form.

    Raises `EventError` when it is none.
    """
    if len(body) > LARGEST:
        raise EventError(
            f"The delivery has {amount(len(body), 'byte')}; at most {LARGEST} are read."
        )
    if header(headers, "Content-Type").startswith("application/x-www-form-urlencoded"):
        body = form_payload(body)
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise EventError("The delivery is no JSON.") from None
    if not isinstance(data, dict):
        raise EventError("The delivery is no JSON object.")
    return Fields(data)


def form_payload(body: bytes) -> bytes:
    """The field `payload` of a form."""
    with suppress(ValueError):
        found = parse_qs(body, max_num_fields=16).get(b"payload")
        if found:
            return found[0]
    raise EventError("The delivery is a form without a field 'payload'.")


def digest(body: bytes) -> str:
    """Return the digest of a body, for `Event.digest`."""
    return hashlib.sha256(body).hexdigest()
