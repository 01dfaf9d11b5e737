"""Whether a kernel's text does anything, for launches that wrote nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ci.model.layout import KERNEL
from ci.source.cpp_text import closing, without_comments, without_disabled

EMPTY_BODY: Final = "The launch writes no byte of its tensors: the kernel's body is empty."
NOTHING_TO_DO: Final = (
    "The launch writes no byte of its tensors, although the kernel's body is not empty: it does"
    " nothing with these shapes, values and attributes."
)

_ENTRY = re.compile(r"__global__(?:[^;{}()]|\([^()]{0,200}\))*?\bvoid\s+\w+\s*\(")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*$", re.MULTILINE | re.DOTALL)
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_MACRO = re.compile(r"\b([A-Z][A-Z0-9_]*)\s*\(")
_OF_MACROS = re.compile(r"\bif\s*(?:constexpr\s*)?\([\s|&!]*\)|\belse\b")
"""What is left of a branch whose condition is macros: a test of the tiling key."""
_IDLE = re.compile(r"\(\s*void\s*\)\s*\w+\s*|return\s*|(?:const\s+)?[A-Za-z_][\w:<>, ]*\s+\w+\s*|")
"""Statements that do nothing by themselves: a name that is not used, a return, a declaration."""


def wrote_nothing_because(texts: Mapping[str, str]) -> str:
    """The sentence for a launch that wrote nothing; `texts` are the operator's sources by path."""
    return EMPTY_BODY if body_is_empty(texts) else NOTHING_TO_DO


def body_is_empty(texts: Mapping[str, str]) -> bool:
    """Whether the bodies of all kernel functions only take their tiling and declare things."""
    kernel = [
        without_disabled(without_comments(text))
        for path, text in texts.items()
        if path.startswith(KERNEL + "/")
    ]
    own = {name for text in kernel for name in _DEFINED.findall(text)}
    bodies = [body for text in kernel for body in _bodies(text)]
    return bool(bodies) and all(_idle(body, own) for body in bodies)


def _bodies(text: str) -> list[str]:
    found = []
    for entry in _ENTRY.finditer(text):
        end = closing(text, entry.end() - 1)
        start = text.find("{", end)
        if end < 0 or start < 0 or text[end + 1 : start].strip():
            continue  # a declaration
        found.append(text[start + 1 : closing(text, start)])
    return found


def _idle(body: str, own: set[str]) -> bool:
    """Whether a body is nothing but the toolkit's macros, which take the tiling and mark the
    kernel, and statements that do nothing; `own` are macros of the operator."""
    body = _DIRECTIVE.sub("", body)
    while call := _MACRO.search(body):
        end = closing(body, call.end() - 1)
        if call.group(1) in own or end < 0:
            return False
        body = body[: call.start()] + body[end + 1 :]
    statements = re.split(r"[;{}]", _OF_MACROS.sub("", body))
    return all(_IDLE.fullmatch(one.strip()) for one in statements)
