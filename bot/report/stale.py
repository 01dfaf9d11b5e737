"""Comments that a change leaves standing although they speak of what it takes away.

A comment counts when it is at the end of a changed line or right above changed lines, is not
changed itself, and names an identifier or a number that the old lines have and the new ones have
not. Numbers are compared by value: 4096, 4,096, 4K, 4千, 0x1000, 4 * 1024 and 1 << 12 are one, and
so are 2 and "double". Where a constant is given another value, comments at its other uses in the
changed files count too. Whether a comment is wrong now a person decides; the merge request names
it.
"""

from __future__ import annotations

import re
import unicodedata
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
    (?<![\w.]) (?:
      1[uUlL]* \s* << \s* (?P<shift>\d+)
    | 2 \s? (?: \^ | \*\* ) \s? (?P<power>\d+)
    | (?P<hex>0[xX][0-9a-fA-F]+)
    | (?P<product>\d+ [uUlL]* (?: \s* [*x×] \s* \d+ [uUlL]* (?![\w.]) )+ )
    | (?P<number>\d{1,3} (?: [,'] \d{3} )+ (?!\d) | \d+ (?: \.\d+ )? (?: [eE][+-]?\d{1,3} )? )
      (?: \s? (?P<unit>[kKmMgG]) i? [bB]? (?!\w) | \s? (?P<more>[千万%]) )?
    | (?P<name>[A-Za-z_]\w+)
    | (?P<said>[两双三四八]) (?= [个级重缓块份次核半] )
    )
    """,
    re.VERBOSE | re.ASCII,
)
_DEFINED: Final = re.compile(r"#\s*define\s+(\w+)|(\w+)\s*(?:=(?!=)|\{)", re.ASCII)
_UNITS: Final = {"": 0, "k": 1, "m": 2, "g": 3}
_MORE: Final = {"千": 1000, "万": 10000, "%": 0.01}
_SAID: Final = {
    **dict.fromkeys(("two", "twice", "double", "两", "双"), 2.0),
    **dict.fromkeys(("three", "triple", "三"), 3.0),
    **dict.fromkeys(("four", "四"), 4.0),
    **dict.fromkeys(("eight", "八"), 8.0),
    "half": 0.5,
}
"""Numbers that comments write as words."""
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
_LITERAL: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_BORDER: Final = {False: re.compile(r"//|/\*"), True: re.compile(r"\*/")}
"""What ends code and what ends a block of comment."""


class Stale(NamedTuple):
    """A comment to look at."""

    path: str
    line: int
    """In the changed file, counted from 1."""
    names: tuple[str, ...]
    """Names that the comment has and the code next to it no longer has."""


class _Split(NamedTuple):
    """A line, its code and what it says in a comment; '' for what it has not."""

    code: str
    comment: str


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
    whole = {
        file.path: _split(text.split("\n"))
        for file in files
        for end, text in (texts or {}).items()
        if file.path.endswith(end)
    }
    for file in files:
        found |= dict.fromkeys(_in_file(file))
        for path, lines in whole.items():
            known = {(one.path, one.line) for one in found}
            new = (one for one in _at_uses(file, path, lines) if (path, one.line) not in known)
            found |= dict.fromkeys(new)
    return list(found)


def _in_file(file: PatchedFile) -> Iterator[Stale]:
    for lines, split, start, end in _changes(file):
        old, new, gone = _taken_away(lines, split, start, end)
        said = {split[at].comment for at in old} - {""}
        kept = [at for at in new if split[at].comment in said]
        for at in [*_above(lines, split, start), *kept]:
            if names := _named(split[at].comment, gone):
                yield Stale(file.path, lines[at].target_line_no or 0, names)


def _at_uses(file: PatchedFile, path: str, whole: Sequence[_Split]) -> Iterator[Stale]:
    """Comments with the old value of a constant of `file` where `path` uses it by its name."""
    for lines, split, start, end in _changes(file):
        old, new, gone = _taken_away(lines, split, start, end)
        numbers: set[Key] = {key for key in gone if isinstance(key, float)}
        names = _defined(split[at].code for at in old) & _defined(split[at].code for at in new)
        for number, line in enumerate(whole) if numbers and names else ():
            words = _named(line.comment, numbers)
            below = (one.code for one in whole[number : number + 1 + _NEAR])
            if words and names & _keys(below):
                yield Stale(path, number + 1, words)


def _changes(file: PatchedFile) -> Iterator[tuple[list[Line], list[_Split], int, int]]:
    """The lines of each hunk with the beginning and end of what changed together."""
    for hunk in file:
        lines = list(hunk)
        split = _split([line.value for line in lines])
        for start, end in _runs(lines):
            yield lines, split, start, end


def _taken_away(
    lines: Sequence[Line], split: Sequence[_Split], start: int, end: int
) -> tuple[list[int], list[int], set[Key]]:
    """Old and new lines, and what the code of the old ones has and that of the new ones lacks."""
    old = [at for at in range(start, end) if lines[at].is_removed]
    new = [at for at in range(start, end) if lines[at].is_added]
    before, after = (_keys(split[at].code for at in some) for some in (old, new))
    return old, new, before - after - _COMMON


def _defined(codes: Iterable[str]) -> set[Key]:
    found = (_DEFINED.finditer(code) for code in codes)
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


def _above(lines: Sequence[Line], split: Sequence[_Split], start: int) -> list[int]:
    """The unchanged lines of comment alone right above."""
    at = start
    while at and lines[at - 1].is_context and _alone(lines[at - 1].value, split[at - 1]):
        at -= 1
    return [*range(at, start)]


def _alone(text: str, split: _Split) -> bool:
    return bool(text.strip()) and not split.code.strip()


def _without_literals(text: str) -> str:
    """A line with full-width figures as plain ones and texts emptied."""
    return _LITERAL.sub('""', unicodedata.normalize("NFKC", text[:_LONGEST_LINE])).strip()


def _split(lines: Iterable[str]) -> list[_Split]:
    """Code and comment of each line; the first ones may be in a block that began above them."""
    found = list[_Split]()
    texts = [_without_literals(line) for line in lines]
    first = next(filter(None, (re.search(r"/\*|\*/", text) for text in texts)), None)
    inside = first is not None and first.group() == "*/"
    for text in texts:
        code, comment = "", ""
        if not inside and text.startswith(("* ", "*/")):  # of a block that is not seen whole
            comment, text = text, ""
        while text:
            mark = _BORDER[inside].search(text)
            words, border, text = text.partition(mark.group()) if mark else (text, "", "")
            if border == "//":
                code, comment, text = code + words, comment + text, ""
            else:
                code, comment = (code, comment + words) if inside else (code + words, comment)
                inside = border == "/*" if border else inside
        found.append(_Split(code, comment.strip("/* ")))
    return found


def _keys(texts: Iterable[str]) -> set[Key]:
    """The names and values of code."""
    return {key for text in texts for word in _WORD.finditer(text) for key in _key(word)}


def _key(word: re.Match[str]) -> set[Key]:
    """Return the values of a word; with a unit there are two, for K is 1000 or 1024."""
    if word["name"]:
        return {word["name"]}
    if word["said"] or len(word.group()) > _LONGEST_NUMBER:
        return set()
    if shift := word["shift"] or word["power"]:
        return {float(1 << min(int(shift), 64))}
    if word["hex"]:
        return {float(int(word["hex"], 16))}
    if word["product"]:
        return {float(prod(map(int, re.findall(r"\d+", word["product"]))))}
    value = float(re.sub("[,']", "", word["number"]))
    if word["more"]:
        return {value, value * _MORE[word["more"]]}  # 100 % 7 is no share
    power = _UNITS[(word["unit"] or "").lower()]
    return {value * base**power for base in (1000, 1024)}


def _named(comment: str, gone: set[Key]) -> tuple[str, ...]:
    """The words of a comment that stand for what is gone, as it writes them."""
    words = (
        word.group()
        for word in _WORD.finditer(comment)
        if (_key(word) | {_SAID.get(word.group().lower(), 0.0)}) & gone
    )
    return tuple(dict.fromkeys(words))
