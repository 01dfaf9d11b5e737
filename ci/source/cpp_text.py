"""C++ as characters: comments, brackets, arguments, macros; the one place that knows literals.

`cpp_source.py` reads structure, on tree-sitter and on this; the guard alone has a lexer of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

# The lookbehind keeps the digit separator of 1'000 from opening a character.
_TOKEN = re.compile(
    r"//[^\n\\]*(?:\\.[^\n\\]*)*|/\*.*?(?:\*/|\Z)|R\"(\w*)\(.*?\)\1\""
    r"|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)
_ENTRY = re.compile(
    r"__global__[\w\s]*?\bvoid\s+(?:__attribute__\s*\(\(.*?\)\)\s*)?(\w+)\s*\(([^)]*)\)"
)
_CLOSERS = {"(": ")", "{": "}", "[": "]"}
# Deep enough for the macro families of real repositories, and a stop for recursive ones.
_MAX_EXPANSIONS = 400


def blanked(found: re.Match[str]) -> str:
    """Spaces for what was found, of equal length; line breaks stay. For `re.sub`."""
    return "\n".join(" " * len(line) for line in found.group().split("\n"))


@lru_cache(maxsize=256)
def without_comments(text: str) -> str:
    """`text` with every comment blanked to equal length; strings and line breaks stay."""
    return _TOKEN.sub(lambda m: blanked(m) if m.group().startswith("/") else m.group(), text)


def global_functions(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Name and parameters of each kernel entry that a source defines or declares, in its order.

    By the marks of the text: discovery asks it of every source of a repository, and the entry's
    head is plain even where macros around it lead a parser astray.
    """
    return [
        (name, tuple(split_arguments(listed)))
        for name, listed in _ENTRY.findall(without_comments(text))
    ]


def without_disabled(text: str) -> str:
    """`text` without the lines of `#if 0` parts."""
    return re.sub(
        r"^[ \t]*#[ \t]*if[ \t]+0\b.*?^[ \t]*#[ \t]*(?:endif|else)\b[^\n]*",
        "",
        text,
        flags=re.DOTALL | re.MULTILINE,
    )


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
    at = 0
    for _ in range(_MAX_EXPANSIONS):
        match = use.search(text, at)
        if match is None:
            break
        open_at = text.index("(", match.start())
        end = closing(text, open_at)
        if end < 0:
            at = match.end()
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
