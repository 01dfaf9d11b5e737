"""C++ as characters: comments, brackets, arguments, macros; the one place that knows literals.

`cpp_source.py` reads structure, on tree-sitter and on this; the guard alone has a lexer of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

# The lookbehind keeps the digit separator of 1'000 from opening a character.
_OPENS = re.compile(r"//|/\*|R\"(\w*)\(|\"|(?<![0-9A-Fa-f])'")
_COMMENT = {
    "//": re.compile(r"//[^\n\\]*(?:\\.[^\n\\]*)*", re.DOTALL),
    "/*": re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL),
}
_LITERAL = {
    '"': re.compile(r"\"(?:\\.|[^\"\\\n])*", re.DOTALL),
    "'": re.compile(r"'(?:\\.|[^'\\\n])*", re.DOTALL),
}
# No entry has another one in its head: else each of many would be looked for to the text's end.
_ENTRY = re.compile(
    r"__global__((?:(?!__global__)(?:[\w\s]|\([^()]{0,200}\)))*?)\bvoid\s+"
    r"(?:__attribute__\s*\(\(.{0,500}?\)\)\s*)?"
    r"(\w+)\s*\(((?:(?!__global__)[^)])*)\)(?!\s*;)"
)
_BEFORE = re.compile(r"(?:\btemplate\s*<([^<>]*)>\s*)?((?:\b__\w+__\s*(?:\([^()]*\)\s*)?)*)$")
_MOST_BEFORE = 400
"""Characters before an entry's `__global__` that are looked at."""
_HEAD_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:[^\n]|\\\n)*?__global__", re.MULTILINE)
DIRECTIVE = re.compile(r"^[ \t]*#[^\n\\]*(?:\\.[^\n\\]*)*", re.MULTILINE | re.DOTALL)
"""A preprocessor line with its continuations."""

_DISABLED = re.compile(r"^[ \t]*#[ \t]*if[ \t]+0\b", re.MULTILINE)
_ENABLED = re.compile(r"^[ \t]*#[ \t]*(?:endif|else)\b[^\n]*", re.MULTILINE)
_CLOSERS = {"(": ")", "{": "}", "[": "]"}
# Deep enough for the macro families of real repositories, and a stop for recursive ones.
_MAX_EXPANSIONS = 400
# And for those that double what they are given: 30 of these would fill the memory.
_MAX_EXPANDED = 1_000_000
# Uses of macros whose brackets do not close: each is looked through to the text's end.
_MAX_UNCLOSED = 10


def blanked(found: re.Match[str]) -> str:
    """Spaces for what was found, of equal length; line breaks stay. For `re.sub`."""
    return _blank(found.group())


def _blank(text: str) -> str:
    return "\n".join(" " * len(line) for line in text.split("\n"))


@lru_cache(maxsize=256)
def without_comments(text: str) -> str:
    """`text` with every comment blanked to equal length; strings and line breaks stay."""
    parts: list[str] = []
    done = 0
    for start, end in _comments(text):
        parts += (text[done:start], _blank(text[start:end]))
        done = end
    return "".join((*parts, text[done:]))


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """Where each comment begins and ends.

    A text of a stranger takes no longer than another of its length: what is opened and not closed
    is looked for once.
    """
    raw_ends: dict[str, list[int]] | None = None
    open_until = {'"': 0, "'": 0}
    at = 0
    while (found := _OPENS.search(text, at)) is not None:
        start, mark = found.start(), found[0]
        at = start + 1
        if mark in _COMMENT:
            comment = _COMMENT[mark].match(text, start)
            assert comment is not None, "it begins with the mark"
            at = comment.end()
            yield start, at
        elif mark in _LITERAL:
            if start < open_until[mark]:
                continue  # it is inside of one that is not closed, so neither is it
            literal = _LITERAL[mark].match(text, start)
            assert literal is not None, "it begins with the mark"
            if text.startswith(mark, literal.end()):
                at = literal.end() + 1
            else:
                open_until[mark] = literal.end()
        else:
            if raw_ends is None:
                raw_ends = {}
                for closing_mark in re.finditer(r"\)(?=(\w*)\")", text):
                    raw_ends.setdefault(closing_mark[1], []).append(closing_mark.start())
            ends = raw_ends.get(found[1], [])
            place = bisect_left(ends, found.end())
            if place < len(ends):
                at = ends[place] + len(found[1]) + 2


class GlobalFunction(NamedTuple):
    """A kernel's entry as its head has it."""

    name: str
    parameters: tuple[str, ...]
    marks: str
    """The words around `__global__`, such as `__mix__(1, 2)`."""
    template: tuple[str, ...]
    """The names of its template's parameters."""


def global_functions(text: str) -> list[GlobalFunction]:
    """The kernel entries that a source defines, in its order.

    One that a program declares in order to launch it is none. By the marks of the text: discovery
    asks it of every source of a repository, and the entry's head is plain even where macros around
    it lead a parser astray.
    """
    code = _with_heads(without_comments(text))
    found = []
    for one in _ENTRY.finditer(code):
        before = _BEFORE.search(code[max(0, one.start() - _MOST_BEFORE) : one.start()])
        listed, marks = (before[1] or "", before[2]) if before else ("", "")
        template = (part.partition("=")[0].split() for part in split_arguments(listed))
        found.append(
            GlobalFunction(
                one[2],
                tuple(split_arguments(one[3])),
                f"{marks} {one[1]}",
                tuple(words[-1] for words in template if words),
            )
        )
    return found


def _with_heads(text: str) -> str:
    """Comment-free `text` with macros written out that hold the mark of a kernel entry."""
    heads = _HEAD_MACRO.findall(text)
    if not heads:
        return text
    plain = {name: body for name, body in object_macros(text).items() if name in heads}
    functions = {name: one for name, one in function_macros(text).items() if name in heads}
    code = DIRECTIVE.sub("", text)
    if plain:
        use = re.compile(r"\b(" + "|".join(plain) + r")\b")
        code = use.sub(lambda found: plain[found.group()].replace("\\\n", " "), code)
    return expand(code, functions)


def without_disabled(text: str) -> str:
    """`text` without the lines of `#if 0` parts."""
    parts: list[str] = []
    at = 0
    while (begin := _DISABLED.search(text, at)) and (end := _ENABLED.search(text, begin.end())):
        parts.append(text[at : begin.start()])
        at = end.end()
    return "".join((*parts, text[at:]))


def closing(text: str, start: int) -> int:
    """Index of the bracket that closes the one at `start`, or -1; strings are skipped."""
    stack: list[str] = []
    i = start
    while i < len(text):
        c = text[i]
        if c in "\"'":
            end = i + 1
            while end < len(text) and text[end] not in (c, "\n"):
                end += 2 if text[end] == "\\" else 1
            i = end + 1
            continue
        if c in _CLOSERS:
            stack.append(_CLOSERS[c])
        elif stack and c == stack[-1]:
            stack.pop()
            if not stack:
                return i
        i += 1
    return -1


def split_arguments(text: str, at: str = ",") -> list[str]:
    """The parts of `text` between the commas (or another character) at bracket depth 0, stripped;
    none of an empty text."""
    parts: list[str] = []
    depth, begin, i = 0, 0, 0
    while i < len(text):
        c = text[i]
        if c in "\"'":
            i += 1
            while i < len(text) and text[i] != c:
                i += 2 if text[i] == "\\" else 1
        elif c in "({[":
            depth += 1
        elif c in ")}]":
            depth -= 1
        elif c == at and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
        i += 1
    last = text[begin:].strip()
    return [*parts, last] if last or parts else []


@dataclass(frozen=True)
class Macro:
    """A function-like macro."""

    parameters: tuple[str, ...]
    variadic: bool
    body: str


def function_macros(text: str) -> dict[str, Macro]:
    """The function-like macros that comment-free `text` defines."""
    joined = text.replace("\\\r\n", " ").replace("\\\n", " ")
    found = {}
    for name, parameters, body in re.findall(
        r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([^)\n]*)\)([^\n]*)", joined, re.MULTILINE
    ):
        names = [p.strip() for p in parameters.split(",") if p.strip()]
        variadic = bool(names) and names[-1] == "..."
        found[name] = Macro(tuple(names[:-1] if variadic else names), variadic, body.strip())
    return found


def object_macros(text: str) -> dict[str, str]:
    """The object-like macros with a body that comment-free `text` defines."""
    joined = text.replace("\\\r\n", " ").replace("\\\n", " ")
    return dict(
        re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\S[^\n]*?)[ \t]*$", joined, re.MULTILINE)
    )


def expand(text: str, macros: dict[str, Macro]) -> str:
    """`text` with the uses of `macros` replaced by their bodies, repeatedly."""
    if not macros:
        return text
    use = re.compile(r"\b(" + "|".join(map(re.escape, macros)) + r")\b[ \t\r\n]*(?=\()")
    at = unclosed = 0
    for _ in range(_MAX_EXPANSIONS):
        match = use.search(text, at)
        if match is None or unclosed > _MAX_UNCLOSED or len(text) > _MAX_EXPANDED:
            break
        open_at = text.index("(", match.start())
        end = closing(text, open_at)
        if end < 0:
            at = match.end()
            unclosed += 1
            continue
        body = _substituted(macros[match.group(1)], text[open_at + 1 : end])
        text = text[: match.start()] + body + text[end + 1 :]
        at = match.start()
    return text


def _substituted(macro: Macro, argument_text: str) -> str:
    arguments = split_arguments(argument_text)
    values = dict(zip(macro.parameters, arguments, strict=False))
    for name in macro.parameters[len(arguments) :]:
        values[name] = ""
    if macro.variadic:
        values["__VA_ARGS__"] = ", ".join(arguments[len(macro.parameters) :])
    body = macro.body
    if values:
        names = "|".join(map(re.escape, values))
        body = re.sub(rf"(?<!#)#\s*({names})\b", lambda m: f'"{values[m.group(1)]}"', body)
        body = re.sub(rf"\b({names})\b", lambda m: values[m.group(1)], body)
        # A parameter next to ## has no word boundary of its own once the other side was replaced.
    return re.sub(r"\s*##\s*", "", body)
