"""Careful reading of C++ text without compiling it: comments, brackets, arguments, macros."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
_CLOSERS = {"(": ")", "{": "}", "[": "]"}
# Deep enough for the macro families of real repositories, and a stop for recursive ones.
_MAX_EXPANSIONS = 400


def without_comments(text: str) -> str:
    """`text` with every comment blanked to equal length; strings and line breaks stay."""

    def blank(match: re.Match[str]) -> str:
        token = match.group()
        return re.sub(r"[^\n]", " ", token) if token.startswith("/") else token

    return _TOKEN.sub(blank, text)


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


def split_arguments(text: str) -> list[str]:
    """The comma-separated parts of `text` at bracket depth 0, stripped."""
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
        elif c == "," and depth == 0:
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
        # A parameter beside ## has no word boundary of its own once the other side was replaced.
    return re.sub(r"\s*##\s*", "", body)
