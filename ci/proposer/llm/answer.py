"""Reads what models answer: JSON with blemishes, named lines, code in fences. Data, never trusted.

Parsers never raise anything but `BadAnswer`, whose sentence is shown to the model once.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

LONGEST: Final = 400_000
"""Characters of an answer that are read; the largest kernel file seen has 90,000."""

_THOUGHT: Final = re.compile(
    r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE
)
_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})")
# A text that is not closed goes to the end: who looked for its end from each place would never be
# done.
_TRAILING_COMMA: Final = re.compile(r'("(?:\\.|[^"\\])*(?:"|\\?\Z))|,(\s*[}\]])', re.DOTALL)


class BadAnswer(Exception):
    """An answer that cannot be used; the message says why, to the model."""


def spoken(text: str) -> str:
    """The answer without the thoughts that some models write before it."""
    return _THOUGHT.sub("", text[:LONGEST]).strip()


def read_object(text: str) -> dict[str, Any]:
    """The JSON object in an answer, with prose around it, in a fence, or with trailing commas.

    Raises BadAnswer when there is none.
    """
    said = spoken(text)
    places = [said, *_fences(said)]
    start = said.find("{")
    while start >= 0 and len(places) < 8:
        places.append(said[start:])
        start = said.find("{", start + 1)
    for place in places:
        found = _decode(place.strip())
        if found is not None:
            return found
    raise BadAnswer("The answer holds no JSON object.")


def _decode(text: str) -> dict[str, Any] | None:
    """The object that a text begins with."""
    if not text.startswith("{"):
        return None
    for candidate in (text, _without_commas(text)):
        try:
            found, _ = json.JSONDecoder(strict=False).raw_decode(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return None


def _without_commas(text: str) -> str:
    """The text without commas before a closing bracket, strings left alone."""
    return _TRAILING_COMMA.sub(lambda m: m.group(1) or m.group(2), text)


def fenced_text(text: str) -> str:
    """What is in the last fence of an answer; all of it where there is none."""
    said = spoken(text)
    return (_fences(said) or [said])[-1]


def _fences(text: str) -> list[str]:
    """What is in each fence, read once from the first line to the last."""
    found: list[str] = []
    fence, inner = "", list[str]()
    for line in text.splitlines(keepends=True):
        if fence and line.strip() == fence:
            found.append("".join(inner))
            fence = ""
        elif fence:
            inner.append(line)
        elif opened := _FENCE.match(line):
            fence, inner = opened.group(1), []
    return found


def read_line(text: str, name: str, limit: int = 1000) -> str:
    """What follows `NAME:` on its line (in bold or as a list item too); '' when it is missing."""
    wanted = re.compile(rf"[ \t>*#_-]*{name}[ \t*_]*:[ \t*_]*(.*)", re.IGNORECASE)
    matches = (wanted.match(line) for line in text[:LONGEST].splitlines())
    return next((m.group(1).strip()[:limit] for m in matches if m), "")


def read_words(text: str, name: str) -> tuple[str, ...]:
    """The words, separated by commas or spaces, that follow `NAME:`."""
    return tuple(dict.fromkeys(re.findall(r"[\w.\-]+", read_line(text, name))))


def text_of(found: dict[str, Any], name: str, limit: int) -> str:
    """A text field of a JSON answer on one line. Raises BadAnswer when empty or too long."""
    value = found.get(name)
    if not isinstance(value, str) or not value.strip():
        raise BadAnswer(f"The field '{name}' must be a text that says something.")
    value = " ".join(value.split())
    if len(value) > limit:
        raise BadAnswer(
            f"The field '{name}' has {len(value)} characters; at most {limit} are read."
        )
    return value


def words_of(found: dict[str, Any], name: str) -> tuple[str, ...]:
    """A list of short texts; one text counts as a list of one. Raises BadAnswer."""
    value = found.get(name, [])
    value = [value] if isinstance(value, str) else value
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise BadAnswer(f"The field '{name}' must be a list of texts.")
    return tuple(dict.fromkeys(v.strip() for v in value if v.strip()))
