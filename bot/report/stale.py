"""Comments that a change leaves standing although they speak of what it takes away.

A comment counts when it is at the end of a changed line or right above changed lines, is not
changed itself, and names an identifier or a number that the old lines have and the new ones have
not. Whether it is wrong now a person decides; the merge request names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from unidiff.patch import Line, PatchedFile, PatchSet

_WORD: Final = re.compile(r"0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?|[A-Za-z_]\w+")
# Words of the language, and numbers of which every other comment speaks.
_COMMON: Final = frozenset(
    """
    auto bool break case char const constexpr continue default double else false float for half if
    inline int int32_t int64_t long return short static struct switch template this true uint8_t
    uint16_t uint32_t uint64_t unsigned void while 0 1
    """.split()  # noqa: SIM905
)
_ALONE: Final = ("//", "/*", "* ", "*/")
"""How a line that is all comment begins."""

_LITERAL: Final = re.compile(r'"(?:[^"\\]|\\.)*"')


class Stale(NamedTuple):
    """A comment to look at."""

    path: str
    line: int
    """In the changed file, counted from 1."""
    names: tuple[str, ...]
    """What it names and the code next to it no longer holds."""


def stale_comments(diff: str) -> list[Stale]:
    """The comments to look at in a unified diff, in its order."""
    found: list[Stale] = []
    for file in PatchSet(diff):
        found += dict.fromkeys(_in_file(file))
    return found


def _in_file(file: PatchedFile) -> Iterator[Stale]:
    for hunk in file:
        lines = list(hunk)
        for start, end in _runs(lines):
            old = [line for line in lines[start:end] if line.is_removed]
            new = [line for line in lines[start:end] if line.is_added]
            gone = _words(_code(line) for line in old) - _words(_code(line) for line in new)
            gone -= _COMMON
            said = {_comment(line) for line in old}
            kept = [line for line in new if _comment(line) and _comment(line) in said]
            for line in [*_above(lines, start), *kept]:
                names = tuple(w for w in dict.fromkeys(_WORD.findall(_comment(line))) if w in gone)
                if names:
                    yield Stale(file.path, line.target_line_no or 0, names)


def _runs(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Where lines that changed together begin and end."""
    start = None
    for at, line in enumerate(lines):
        if line.is_context:
            if start is not None:
                yield start, at
            start = None
        elif start is None:
            start = at
    if start is not None:
        yield start, len(lines)


def _above(lines: Sequence[Line], start: int) -> list[Line]:
    """The unchanged lines of comment alone that stand right above."""
    found: list[Line] = []
    for line in reversed(lines[:start]):
        if not line.is_context or not line.value.strip().startswith(_ALONE):
            break
        found.insert(0, line)
    return found


def _comment(line: Line) -> str:
    """What a line says in a comment, '' when it holds none."""
    text = _LITERAL.sub('""', line.value).strip()
    if text.startswith(("/*", "* ", "*/")):
        return text.strip("/* ")
    return text.partition("//")[2].strip()


def _code(line: Line) -> str:
    """What a line holds next to its comment."""
    text = _LITERAL.sub('""', line.value).strip()
    return "" if text.startswith(_ALONE) else text.partition("//")[0]


def _words(texts: Iterator[str]) -> set[str]:
    return {word for text in texts for word in _WORD.findall(text)}
