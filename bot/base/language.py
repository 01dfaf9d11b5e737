"""The language of merge requests, comments and reports: English, or another from a catalogue.

A catalogue is a gettext file, `bot/locale/LANGUAGE/messages.po`, read with babel. The English
sentence is the key. Numbers, code, commands and file names are values and stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, Final, Literal

from ci.model.amount import worded_amount

Language = Literal["en", "zh"]

CATALOGUES: Final = Path(__file__).parents[1] / "locale"
_current: ContextVar[Language] = ContextVar("language", default="en")


@contextmanager
def language(name: Language) -> Iterator[None]:
    """Write in the language `name` until the block ends, in this thread or task."""
    token = _current.set(name)
    try:
        yield
    finally:
        _current.reset(token)


def current_language() -> Language:
    """The language in which this thread or task writes."""
    return _current.get()


def translated(message: str, **values: object) -> str:
    """`message` in the current language, its {names} filled with `values`.

    `{count:case|cases}` is the number with the word that fits it: `1 case`, `3 cases`. A message
    that the catalogue lacks stays English. Without values braces are literal.
    """
    found = catalogue(_current.get()).get(message, message)
    return _AMOUNTS.vformat(found, (), values) if values else found


class _Amounts(Formatter):
    """Fills messages; `one|many` as the format of a value are its words."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return `value` as the message shows it."""
        one, bar, many = format_spec.partition("|")
        if bar:
            return worded_amount(value, one, many)
        return str(super().format_field(value, format_spec))


_AMOUNTS: Final = _Amounts()


def catalogue(name: Language) -> Mapping[str, str]:
    """Translations of messages by their English text; empty for English."""
    return _read(name)[0]


def sentence_catalogue(name: Language) -> Mapping[str, str]:
    """Translations of the patterns in the context "sentence", by pattern; empty for English."""
    return _read(name)[1]


@cache
def _read(name: Language) -> tuple[Mapping[str, str], Mapping[str, str]]:
    messages: dict[str, str] = {}
    sentences: dict[str, str] = {}
    if name != "en":
        from babel.messages.pofile import read_po

        with (CATALOGUES / name / "messages.po").open("rb") as file:
            for found in read_po(file, locale=name):
                if found.id and found.string:
                    into = sentences if found.context == "sentence" else messages
                    into[str(found.id)] = str(found.string)
    return messages, sentences
