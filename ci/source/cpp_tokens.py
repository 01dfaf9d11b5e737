"""Splits C++ source into tokens as the preprocessor would, with the line of each.

The guard's own: a judge must not depend on the lenient reader that proposals are made with
(`cpp_source.py`), which blanks words and reads on over errors. It knows comments, literals, spliced
lines and directives, which is what a guard needs in order not to be deceived by them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["name", "number", "string", "raw_string", "mark", "directive", "newline"]


class Token(NamedTuple):
    """A token. A directive's text is its name; `rest` is what follows on its logical line."""

    kind: Kind
    text: str
    line: int
    rest: str = ""


_SPLICE = re.compile(r"\\[ \t\f\v]*\n")
_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\f\v]+)
    | (?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<newline>\n)
    | (?P<raw_string>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?(?:\)(?P=delimiter)"|\Z))
    | (?P<string>(?:u8|[uUL])?(?:"(?:\\.|[^"\\\n])*(?:"|(?=\n)|\Z)
                              |'(?:\\.|[^'\\\n])*(?:'|(?=\n)|\Z)))
    | (?P<name>[A-Za-z_$][A-Za-z0-9_$]*)
    | (?P<number>\.?[0-9](?:[eEpP][+-]|'?[A-Za-z0-9_.])*)
    | (?P<mark>%:%:|\#\#|<::(?![:>])|<[:%]|:>|%[:>]|::|->\*?|.)
    """,
    re.VERBOSE | re.DOTALL,
)


def tokens(source: str) -> Iterator[Token]:
    """Tokens of `source` in order, comments and spaces left out, with 1-based lines.

    Each line that begins with # gives one `directive` token, followed by the tokens of its rest.
    """
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    joined, line_of = _join(source)
    fresh = True
    skip_to = 0
    for match in _TOKEN.finditer(joined):
        kind = match.lastgroup
        if kind == "delimiter":
            kind = "raw_string"
        if match.start() < skip_to or kind in ("space", "comment"):
            continue
        if kind == "newline":
            fresh = True
            yield Token("newline", "\n", line_of(match.start()))
            continue
        text = match.group()
        if fresh and text in ("#", "%:"):
            # The comments between # and the directive's name vanish as in the preprocessor.
            found = _DIRECTIVE.match(joined, match.end())
            assert found
            skip_to = found.end("word")
            end = joined.find("\n", skip_to)
            rest = joined[skip_to : end if end >= 0 else len(joined)]
            yield Token("directive", found["word"], line_of(match.start()), rest.strip())
        elif kind == "mark" and text.startswith("<::"):
            # C++11: `<::` is `<` and `::` unless `:` or `>` follows.
            yield Token("mark", "<", line_of(match.start()))
            yield Token("mark", "::", line_of(match.start()))
        else:
            yield Token(kind, text, line_of(match.start()))  # type: ignore[arg-type]
        fresh = False


_DIRECTIVE = re.compile(r"(?:[ \t\f\v]|/\*.*?\*/)*(?P<word>[A-Za-z_]\w*|)", re.DOTALL)


class _Lines:
    """Line of an offset in the text whose spliced lines were joined."""

    def __init__(self, starts: list[int], numbers: list[int]) -> None:
        self._starts = starts
        self._numbers = numbers

    def __call__(self, offset: int) -> int:
        return self._numbers[bisect_right(self._starts, offset) - 1]


def _join(source: str) -> tuple[str, _Lines]:
    """The text with backslash-newlines taken out, and the original line of each offset."""
    parts: list[str] = []
    starts, numbers = [], []
    at, line = 0, 1
    for piece in _SPLICE.split(source):
        for text in piece.splitlines(keepends=True) or [""]:
            starts.append(at)
            numbers.append(line)
            parts.append(text)
            at += len(text)
            line += text.endswith("\n")
        line += 1
    return "".join(parts), _Lines(starts, numbers)
