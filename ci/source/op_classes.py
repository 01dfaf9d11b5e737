"""The classes that declare operators, in the text of host sources; needs nothing but the text."""

from __future__ import annotations

import re

from ci.source.cpp_text import (
    closing,
    expand,
    function_macros,
    without_comments,
    without_disabled,
)

# A preprocessor line with its continuations.
_DIRECTIVE = re.compile(r"^[ \t]*#[^\n\\]*(?:\\.[^\n\\]*)*", re.MULTILINE | re.DOTALL)
_DERIVED = re.compile(
    r"\b(?:class|struct)\s+(\w+)\s*(?:final\s*)?:\s*(?:public\s+)?(?:::)?(?:ops::)?OpDef\b"
)


def compiled_text(text: str) -> str:
    """Text without comments and parts that are switched off."""
    return without_disabled(without_comments(text))


def expanded(own: str, shared: str = "") -> str:
    """`own` text without directives, macros of its own and of `shared` text put in."""
    macros = function_macros(own) | function_macros(shared)
    lines = _DIRECTIVE.sub("", own)
    return expand(lines, {k: v for k, v in macros.items() if k != "OP_ADD"})


def op_classes(text: str) -> list[tuple[str, str]]:
    """Type and body of each op definition in `expanded` text, in its order."""
    classes = [*_DERIVED.finditer(text)]
    added = re.findall(r"\bOP_ADD\(\s*(\w+)", text)
    if len(classes) > 1 and added:
        classes = [one for one in classes if one.group(1) in added]
    found = []
    # None has another one inside: each is looked for up to where the next begins.
    ends = [*(one.start() for one in classes[1:]), len(text)]
    for one, until in zip(classes, ends, strict=False):
        own = text[one.end() : until]
        start = own.find("{")
        end = closing(own, start) if start >= 0 else -1
        op_type = one.group(1) if one.group(1) in added or not added else added[0]
        found.append((op_type, own[max(start, 0) : end if end > 0 else len(own)]))
    return found
