"""Explicit specializations of a member template within its class, as constrained overloads.

The device's compiler takes `template <> void run<ROWS>() {…}` where the class is defined (CWG 727),
GCC only from release 14 on: kernels on catlass are written so. As an overload with a constraint it
means the same where no template argument is deduced from the function's arguments, and only those
are rewritten; in others the compiler's complaint stays.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from ci.source.cpp_text import blanked, closing, split_arguments, without_comments

NOT_THERE: Final = "explicit specialization in non-namespace scope"
"""GCC's words for what it does not take."""

_HEAD: Final = re.compile(r"\btemplate\s*<")
_NAMED: Final = re.compile(
    r"\s*(?:(?P<kind>class|struct|union)\s+(?P<of>\w+)\s*(?=[<{;:])"
    r"|[^;{}()]*?\b(?P<name>operator\s*\(\s*\)|\w+)\s*(?=[<(]))"
)
_APART: Final = re.compile(
    r'"(?:\\.|[^"\\\n])*"|__attribute__\s*\(\([^()]*(?:\([^()]*\))?[^()]*\)\)'
)
"""Texts, and attributes of functions."""
_CLASS: Final = re.compile(r"\b(?:class|struct|union)\b(?![^;{}]*\))")
_TYPE: Final = re.compile(r"(?:typename|class)\s+(\w+)")
_VALUE: Final = re.compile(r"[\w:\s]+?\b(\w+)")


def as_overloads(text: str) -> str:
    """The text with each such specialization as an overload; lines stay as they are."""
    clean = _APART.sub(blanked, without_comments(text))
    changes = list(_changes(clean))
    for start, end, new in reversed(changes):
        text = text[:start] + new + text[end:]
    return text


def _changes(clean: str) -> Iterator[tuple[int, int, str]]:
    """Spans of the text and what takes their place, in order."""
    primaries: dict[tuple[int, str], str] = {}
    around = _Classes(clean)
    for found in _HEAD.finditer(clean):
        inside = around.at(found.start())
        end = _closing_angle(clean, found.end() - 1)
        if inside < 0 or end < 0:
            continue
        parameters = clean[found.end() : end].strip()
        named = _NAMED.match(clean, end + 1)
        if named is None:
            continue
        name = re.sub(r"\s", "", named["name"] or f"{named['kind']} {named['of']}")
        next_ = clean[named.end()]
        if parameters:
            if next_ != "<" and (named["of"] or not _deduced(clean, named.end(), parameters)):
                primaries[inside, name] = parameters
            continue
        primary = primaries.get((inside, name), "")
        last = _closing_angle(clean, named.end()) if next_ == "<" else -1
        given = split_arguments(clean[named.end() + 1 : last]) if last > 0 else []
        limit = _limit(primary, given)
        if limit and named["name"]:
            yield found.start(), end + 1, f"template <{_on_one_line(primary)}> requires ({limit})"
            yield named.end(), last + 1, ""
        elif limit:  # a constrained partial specialization; it has no defaults
            heads = [_on_one_line(p.partition("=")[0].strip()) for p in split_arguments(primary)]
            yield found.start(), end + 1, f"template <{', '.join(heads)}> requires ({limit})"
            yield named.end(), last + 1, f"<{', '.join(head.split()[-1] for head in heads)}>"


def _limit(parameters: str, given: list[str]) -> str:
    """The condition that the arguments are these; '' where it cannot be written."""
    listed = split_arguments(parameters) if parameters else []
    if not given or len(given) > len(listed) or "..." in parameters:
        return ""
    parts = []
    for parameter, argument in zip(listed, given, strict=False):
        head = parameter.partition("=")[0].strip()
        if kind := _TYPE.fullmatch(head):
            parts.append(f"std::is_same_v<{kind[1]}, {argument.strip()}>")
        elif value := _VALUE.fullmatch(head):
            parts.append(f"{value[1]} == ({argument.strip()})")
        else:
            return ""
    return _on_one_line(" && ".join(parts))


def _deduced(clean: str, opens: int, parameters: str) -> bool:
    """Whether a template parameter stands among the function's parameters."""
    names = [re.split(r"\W+", p.partition("=")[0].strip())[-1] for p in split_arguments(parameters)]
    arguments = clean[opens : closing(clean, opens)]
    return any(name and re.search(rf"\b{name}\b", arguments) for name in names)


def _on_one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _closing_angle(clean: str, opens: int) -> int:
    """Where the `<` at `opens` is closed, -1 where it is not."""
    depth = 0
    for at in range(opens, len(clean)):
        if clean[at] in "<([":
            depth += 1
        elif clean[at] in ")]" or (clean[at] == ">" and clean[at - 1] != "-"):
            depth -= 1
            if depth == 0:
                return at
        elif clean[at] in ";{}":
            return -1
    return -1


class _Classes:
    """Which class's body each place of a text lies in, itself and not in a function of it."""

    def __init__(self, clean: str) -> None:
        self._starts = [0]
        self._inside = [-1]
        around: list[int] = []
        last = 0
        for found in re.finditer(r"[;{}]", clean):
            if found[0] == "{":
                head = clean[last : found.start()]
                around.append(found.start() if _CLASS.search(head) else -1)
            elif found[0] == "}" and around:
                around.pop()
            last = found.end()
            if found[0] != ";":
                self._starts.append(last)
                self._inside.append(around[-1] if around else -1)

    def at(self, place: int) -> int:
        """Where the body of the class begins that `place` lies in; -1 for none."""
        return self._inside[bisect_right(self._starts, place) - 1]
