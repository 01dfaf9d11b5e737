"""Writes out what the body of an op definition says by loops, helpers and constants; only texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, partial
from typing import Final

from ci.source.cpp_text import Macro, closing, expand, split_arguments

_HELPER: Final = re.compile(
    r"(?:\bvoid\s|\bauto\s|&)\s*(?P<name>\w+)\s*(?:=\s*\[[^\]]{0,100}\]\s*)?"
    r"\((?P<parameters>[^(){};]{0,300})\)\s*(?:const\s*)?(?:->[\s\w:&]{1,50})?(?P<body>\{)"
)
"""The head of a function, or of a lambda that has a name."""
_LOOP: Final = re.compile(
    r"\bfor\s*\(\s*[\w:<>*&\s]*?[\s*&](?:(?P<name>\w+)|\[(?P<names>[\w\s,]+)\])\s*:(?!:)\s*"
)
_DECLARES: Final = re.compile(r"\b(?:Input|Output|Attr|AddConfig)\s*\(")
_HEAD: Final = re.compile(r"\s*(?:for|if|while)\s*\(")
_BRACE: Final = re.compile(r"\s*\{")
_OPEN: Final = re.compile(r"\b(Input|Output)\s*\((?!\s*\")([^(){};]*)")
_CALLED: Final = re.compile(r"\b(\w+)\s*\(")
_STRING: Final = r'"(?:\\.|[^"\\])*"'
_CONSTANT: Final = re.compile(r"(?:\w+::)*(\w+)(?:\s*\[\s*(\d+)\s*\])?")
_MOST_LOOPS: Final = 50
_MOST_NAMES: Final = 200
_MOST_UNCLOSED: Final = 10
_MOST_ARGUMENTS: Final = 1000
"""Characters of the arguments of one call."""
_MOST_WRITTEN: Final = 1_000_000
"""Characters: loops within loops over long lists would fill the memory."""


class Known:
    """Text that may define what bodies use, such as that of headers, looked through once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._found: dict[tuple[str, str], str] = {}

    @cached_property
    def helpers(self) -> dict[str, Macro]:
        """Functions that declare something, by name, as if they were macros."""
        return _helpers(self.text)[0]

    def elements(self, name: str, body: str) -> list[str]:
        """The elements of the list of a name, which `body` or this text initializes."""
        return split_arguments(self._after(name, r"\s*(?:\[\w*\])?\s*=?\s*\{", body))

    def string(self, name: str, body: str) -> str:
        """The string of a name, with its quotes; '' where neither text tells."""
        found = re.match(_STRING, self._after(name, r"\s*(?:\[\s*\])?\s*[={(]\s*(?=\")", body))
        return found.group() if found else ""

    def _after(self, name: str, head: str, body: str) -> str:
        """What follows a name and `head` up to the end of its bracket, or of its line."""
        pattern = re.compile(rf"\b{name}{head}")
        if own := pattern.search(body):
            return _initializer(body, own.end())
        if (name, head) not in self._found:
            over = len(self._found) >= _MOST_NAMES
            other = None if over else pattern.search(self.text)
            self._found[name, head] = _initializer(self.text, other.end()) if other else ""
        return self._found[name, head]


def _initializer(text: str, start: int) -> str:
    end = closing(text, start - 1) if text[start - 1] == "{" else text.find(";", start)
    return text[start : max(end, start)]


def written_out(body: str, known: Known) -> str:
    """`body` with each call of a helper, and each round of a loop over a list that the text holds,
    in full, and with strings in place of constants that name a tensor, an attribute or a chip.

    What neither it nor `known` defines stays as it is.
    """
    helpers, body = _helpers(body)
    body = expand(body, known.helpers | helpers)
    at = 0
    for _ in range(_MOST_LOOPS):
        loop = _LOOP.search(body, at)
        if loop is None or len(body) > _MOST_WRITTEN:
            break
        rounds, end = _rounds(body, loop, known)
        if not rounds:
            at = end
            continue
        body = body[: loop.start()] + "\n".join(rounds) + body[end:]
        at = loop.start()
    return _named(body, known)


def open_name(body: str) -> str:
    """What a body that is written out calls an input or output by, where that is no string."""
    found = _OPEN.search(body)
    return f"{found.group(1)}({found.group(2).strip()})" if found else ""


def _helpers(text: str) -> tuple[dict[str, Macro], str]:
    """Functions and lambdas that declare something, by others or themselves, by name as if they
    were macros, and the text without these."""
    heads = [*_HELPER.finditer(text)]
    # None has another one inside: each is looked for up to where the next begins.
    ends = [*(one.start() for one in heads[1:]), len(text)]
    bodies = {}
    for one, until in zip(heads, ends, strict=False):
        own = text[one.end() - 1 : until]
        inner = own[1 : max(closing(own, 0), 0)]
        if not re.search(rf"\b{one['name']}\s*\(", inner):
            bodies[one] = inner
    called = {one: {*_CALLED.findall(inner)} for one, inner in bodies.items()}
    declaring = {one for one, inner in bodies.items() if _DECLARES.search(inner)}
    while more := {
        one for one in bodies.keys() - declaring if called[one] & {d["name"] for d in declaring}
    }:
        declaring |= more
    found, left, at = {}, [], 0
    for one in (one for one in heads if one in declaring):
        parameters = split_arguments(one["parameters"])
        names = [re.findall(r"\w+", p.partition("=")[0]) for p in parameters]
        # A return of what was declared is a chain that goes on.
        inner = re.sub(r"\breturn\b", "", bodies[one].strip().removesuffix(";"))
        found[one["name"]] = Macro(tuple(n[-1] for n in names if n), False, inner)
        left.append(text[at : one.start()])
        at = one.end() + len(bodies[one]) + 1
    return found, "".join((*left, text[at:]))


def _rounds(body: str, loop: re.Match[str], known: Known) -> tuple[list[str], int]:
    """The text of each round of a loop, and where the loop ends; none where its list is unknown."""
    head = closing(body, body.index("(", loop.start()))
    if head < 0:
        return [], loop.end()
    names = [n.strip() for n in (loop["name"] or loop["names"]).split(",")]
    listed = body[loop.end() : head]
    elements = split_arguments(_inside(listed)) if "{" in listed else _of_name(listed, body, known)
    if not elements:
        return [], loop.end()
    end = _statement_end(body, head + 1)
    if end <= 0:
        return [], len(body)
    inner = body[head + 1 : end]
    rounds = []
    for element in elements:
        values = [element] if loop["name"] else split_arguments(_inside(element))
        if len(values) != len(names):
            return [], end
        by_name = dict(zip(names, values, strict=True))
        rounds.append(re.sub(r"\b\w+\b", partial(_in_place_of, by_name), inner))
    return rounds, end


def _statement_end(text: str, start: int) -> int:
    """Where the statement at `start` ends, 0 where it does not."""
    while head := _HEAD.match(text, start):
        start = closing(text, head.end() - 1) + 1
        if start <= 0:
            return 0
    brace = _BRACE.match(text, start)
    return (closing(text, brace.end() - 1) if brace else text.find(";", start)) + 1


def _in_place_of(by_name: Mapping[str, str], found: re.Match[str]) -> str:
    return by_name.get(found.group(), found.group())


def _inside(text: str) -> str:
    start = text.find("{")
    end = closing(text, start) if start >= 0 else -1
    return text[start + 1 : end] if end > 0 else ""


def _of_name(text: str, body: str, known: Known) -> list[str]:
    name = _CONSTANT.fullmatch(text.strip())
    return known.elements(name.group(1), body) if name else []


def _named(body: str, known: Known) -> str:
    """The body with strings as the first arguments of each declaration."""
    parts, at, unclosed = [], 0, 0
    strings: dict[str, str] = {}
    for match in _DECLARES.finditer(body):
        call = body[match.end() - 1 : match.end() + _MOST_ARGUMENTS]
        end = closing(call, 0)
        unclosed += end < 0
        if unclosed > _MOST_UNCLOSED:
            break
        first = (split_arguments(call[1 : max(end, 1)]) or [""])[0]
        if match.start() < at or not first or first.startswith('"'):
            continue
        if first not in strings:
            strings[first] = _string(first, body, known) if len(strings) < _MOST_NAMES else ""
        if strings[first]:
            parts += [body[at : match.end()], strings[first]]
            at = body.index(first, match.end()) + len(first)
    return "".join((*parts, body[at:]))


def _string(argument: str, body: str, known: Known) -> str:
    """The string that an argument is, with its quotes; '' where the texts do not tell."""
    bare = re.sub(r"\.(?:c_str|data)\s*\(\s*\)$", "", argument)
    bare = re.sub(
        r"^(?:std::)?string(?:_view)?\s*[({]\s*(.*?)\s*[)}]$", r"\1", bare, flags=re.DOTALL
    )
    if re.fullmatch(_STRING, bare):
        return bare
    place = _CONSTANT.fullmatch(bare)
    if place is None:
        return ""
    name, index = place.groups()
    if index is None:
        return known.string(name, body)
    several = known.elements(name, body)
    return several[int(index)] if int(index) < len(several) else ""
