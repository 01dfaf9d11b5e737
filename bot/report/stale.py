"""Comments that a change leaves standing although they speak of what it takes away.

A comment counts when it is at the end of a changed line or right above changed lines, is not
changed itself, and names an identifier or a number that the old lines have and the new ones have
not. Numbers are compared by value: 4096, 4K, 0x1000, 4 * 1024 and 1 << 12 are one. Where a constant
is given another value, comments at its other uses in the file count too. Whether a comment is wrong
now a person decides; the merge request names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Final, NamedTuple, TypeAlias

from unidiff.patch import Line, PatchedFile

from ci.model.errors import InputError
from ci.model.patch_set import patch_set

_LONGEST_LINE: Final = 2000
"""Characters of a line that are looked at: the words of a longer one take hours to tell apart."""
_LONGEST_NUMBER: Final = 40
"""Characters; a longer one in somebody's comment is no size of anything, nor any number of ours."""
_WORD: Final = re.compile(
    r"""
    (?<!\w) (?:
      1[uUlL]* \s* << \s* (?P<shift>\d+)
    | (?P<hex>0[xX][0-9a-fA-F]+)
    | (?P<product>\d+ (?: \s* \* \s* \d+ )+ )
    | (?P<number>\d+ (?: \.\d+ )?) (?: \s? (?P<unit>[kKmMgG]) i? [bB]? (?!\w) )?
    | (?P<name>[A-Za-z_]\w+)
    )
    """,
    re.VERBOSE | re.ASCII,
)
_DEFINED: Final = re.compile(r"#\s*define\s+(\w+)|(\w+)\s*(?:=(?!=)|\{)", re.ASCII)
_UNITS: Final = {"": 0, "k": 1, "m": 2, "g": 3}
_NEAR: Final = 3
"""Lines below a comment that it may speak of."""

Key: TypeAlias = str | float
"""An identifier, or the value of a number."""

# Words of the language, and numbers of which every other comment speaks.
_COMMON: Final[frozenset[Key]] = frozenset(
    """
    auto bool break case char const constexpr continue default double else false float for half if
    inline int int32_t int64_t long return short static struct switch template this true uint8_t
    uint16_t uint32_t uint64_t unsigned void while
    """.split()  # noqa: SIM905
) | {0.0, 1.0}
_ALONE: Final = ("//", "/*", "* ", "*/")
"""How a line that is all comment begins."""

_LITERAL: Final = re.compile(r'"(?:[^"\\]|\\.)*"')


class Stale(NamedTuple):
    """A comment to look at."""

    path: str
    line: int
    """In the changed file, counted from 1."""
    names: tuple[str, ...]
    """Names that the comment has and the code next to it no longer has."""


def stale_comments(diff: str, texts: Mapping[str, str] | None = None) -> list[Stale]:
    """The comments to look at in a unified diff, in its order.

    `texts` holds whole changed files by the ends of their paths; then comments beyond the diff's
    lines are looked at too.
    """
    found: dict[Stale, None] = {}
    try:
        files = patch_set(diff)
    except InputError:  # what a result says is no diff is refused where it is proposed
        return []
    for file in files:
        found |= dict.fromkeys(_in_file(file))
        known = {one.line for one in found if one.path == file.path}
        whole = (text for end, text in (texts or {}).items() if file.path.endswith(end))
        for one in _at_uses(file, next(whole, "")):
            if one.line not in known:
                found[one] = None
    return list(found)


def _in_file(file: PatchedFile) -> Iterator[Stale]:
    for lines, start, end in _changes(file):
        old, new, gone = _taken_away(lines[start:end])
        said = {_comment(line.value) for line in old}
        kept = [line for line in new if _comment(line.value) in said - {""}]
        for line in [*_above(lines, start), *kept]:
            if names := _named(_comment(line.value), gone):
                yield Stale(file.path, line.target_line_no or 0, names)


def _at_uses(file: PatchedFile, text: str) -> Iterator[Stale]:
    """Comments with the old value of a constant where the file uses it by its name."""
    lines = text.split("\n")
    codes = [_code(line) for line in lines]
    for some, start, end in _changes(file):
        old, new, gone = _taken_away(some[start:end])
        numbers: set[Key] = {key for key in gone if isinstance(key, float)}
        names = _defined(old) & _defined(new)
        for number, line in enumerate(lines) if numbers and names else ():
            words = _named(_comment(line), numbers)
            if words and names & _keys(codes[number : number + 1 + _NEAR]):
                yield Stale(file.path, number + 1, words)


def _changes(file: PatchedFile) -> Iterator[tuple[list[Line], int, int]]:
    """The lines of each hunk with the beginning and end of what changed together."""
    for hunk in file:
        lines = list(hunk)
        for start, end in _runs(lines):
            yield lines, start, end


def _taken_away(changed: Sequence[Line]) -> tuple[list[Line], list[Line], set[Key]]:
    """Old and new lines, and what the code of the old ones has and that of the new ones lacks."""
    old = [line for line in changed if line.is_removed]
    new = [line for line in changed if line.is_added]
    before, after = ({*_keys(_code(line.value) for line in some)} for some in (old, new))
    return old, new, before - after - _COMMON


def _defined(lines: Iterable[Line]) -> set[Key]:
    found = (_DEFINED.finditer(_code(line.value)) for line in lines)
    return {name for some in found for one in some for name in one.groups() if name}


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


def _without_literals(text: str) -> str:
    return _LITERAL.sub('""', text[:_LONGEST_LINE]).strip()


def _comment(text: str) -> str:
    """What a line says in a comment, '' when it holds none."""
    text = _without_literals(text)
    if text.startswith(("/*", "* ", "*/")):
        return text.strip("/* ")
    return text.partition("//")[2].strip()


def _code(text: str) -> str:
    """Return the code of a line, without its comment."""
    text = _without_literals(text)
    return "" if text.startswith(_ALONE) else text.partition("//")[0]


def _keys(texts: Iterable[str]) -> set[Key]:
    return {key for text in texts for word in _WORD.finditer(text) for key in _key(word)}


def _key(word: re.Match[str]) -> set[Key]:
    """Return the values of a word; with a unit there are two, for K is 1000 or 1024."""
    if word["name"]:
        return {word["name"]}
    if len(word.group()) > _LONGEST_NUMBER:
        return set()
    if word["shift"]:
        return {float(1 << min(int(word["shift"]), 64))}
    if word["hex"]:
        return {float(int(word["hex"], 16))}
    if word["product"]:
        return {float(prod(map(int, word["product"].split("*"))))}
    power = _UNITS[(word["unit"] or "").lower()]
    return {float(word["number"]) * base**power for base in (1000, 1024)}


def _named(comment: str, gone: set[Key]) -> tuple[str, ...]:
    """The words of a comment that stand for what is gone, as it writes them."""
    words = (word.group() for word in _WORD.finditer(comment) if _key(word) & gone)
    return tuple(dict.fromkeys(words))
