"""Finished English sentences of `ci` in the language of the report.

Rationales, refusals and bottlenecks are written where a candidate is made or judged, and reach the
report as English text. The catalogue holds their patterns with {names} for the values, in the
context "sentence": a text that fits a pattern is translated, any other stays English. The pattern
`{count:core|cores}` fits `1 core` and `3 cores`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from bot.base.language import Language, current_language, sentence_catalogue

LONGEST: Final = 600
"""Characters of a text that is compared with patterns; a longer one stays English."""
_DEEPEST: Final = 4
_MARK_ONLY: Final = 2
"""Characters of a pattern that has a mark and no word of its own."""
_VALUE: Final = re.compile(r"\{(\w+)(?::([^{}|]*)\|([^{}|]*))?\}")
_MARKS: Final = {".": "。", ";": "；"}
_BREAK: Final = re.compile(r"(?<=[.!?;]) +")


def local(text: str) -> str:
    """`text` in the current language, as far as the catalogue knows its sentences."""
    name = current_language()
    if name == "en" or len(text) > LONGEST:
        return text
    return _translated(text, name, _DEEPEST)


def _translated(text: str, name: Language, depth: int) -> str:
    """`text` sentence by sentence, or whole where its own pattern has more words than theirs."""
    pieces = _BREAK.split(text)
    done = [_piece(piece, name, depth) for piece in pieces]
    whole = _piece(text, name, depth) if len(pieces) > 1 else done[0]
    if whole is not None and whole.said >= sum(one.said for one in done if one is not None):
        return whole.words
    return "".join(
        piece + " " if one is None else one.words for piece, one in zip(pieces, done, strict=True)
    ).rstrip()


class _Found(NamedTuple):
    """A translation."""

    words: str
    said: int
    """Characters of the text that the pattern has itself; the others are values."""


def _piece(text: str, name: Language, depth: int) -> _Found | None:
    """A sentence or a clause, also with a capital first letter and a mark at its end."""
    stem, mark = (text[:-1], text[-1]) if text[-1:] in _MARKS else (text, "")
    lower = stem[:1].lower() + stem[1:]
    for words, end in ((text, ""), (stem, mark), (lower, mark)):
        found = _matched(words, name, depth)
        if found is not None:
            return found._replace(words=found.words + _MARKS.get(end, ""))
    found = _matched(f"{text}.", name, depth)  # a sentence whose stop the page adds
    return None if found is None else found._replace(words=found.words.removesuffix(_MARKS["."]))


def _matched(text: str, name: Language, depth: int) -> _Found | None:
    """`text` by the first pattern that it fits whole; None when it fits none."""
    for said, pattern, translation in _patterns(name):
        found = pattern.fullmatch(text)
        if found is not None:
            values = found.groupdict()
            if depth:
                values = {k: _translated(v, name, depth - 1) for k, v in values.items()}
            if said <= _MARK_ONLY and values == found.groupdict():
                continue  # a text that nobody knows keeps its own marks
            return _Found(translation.format(**values) if values else translation, said)
    return None


@cache
def _patterns(name: Language) -> list[tuple[int, re.Pattern[str], str]]:
    """Compiled patterns with their translations; those with more words of their own first."""
    found = []
    for message, translation in sentence_catalogue(name).items():
        own = len(_VALUE.sub("", message))
        found.append((own, re.compile(_source(message)), translation))
    return sorted(found, key=lambda one: -one[0])


def _source(message: str) -> str:
    """The regular expression of what fits a pattern of the catalogue."""
    said, end = "", 0
    for value in _VALUE.finditer(message):
        name, one, many = value.groups()
        words = f" (?:{re.escape(one)}|{re.escape(many)})" if one or many else ""
        said += f"{re.escape(message[end : value.start()])}(?P<{name}>.+?){words}"
        end = value.end()
    return said + re.escape(message[end:])
