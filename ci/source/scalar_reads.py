"""Whether a value that the scalar unit read is used before something overwrites where it lay.

The scalar unit works in order: what it has computed with a value, it has. Only a value that the
source uses for the first time behind the overwriting call may be the new one.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ci.source.cpp_source import Function, Source, parse

_BARE_READ = re.compile(
    r"^[\w:<>,\s&*]*?\b(?P<name>\w+)\s*=\s*(?:[\w:]+\s*<[^<>]*>\s*\(\s*|\([\w\s:]+\)\s*)*"
    r"[\w.\[\]>-]+?(?:\.|->)(?:GetValue\s*(?:<[^<>]*>)?)\s*\([^;]*\)\s*\)*$",
    re.DOTALL,
)
"""`float v = x.GetValue(0)`: a statement that only takes the value into a variable."""


def used_too_late(text: str, read: int, written: int) -> bool:
    """Whether the source uses a value that line `read` takes only behind line `written`.

    Lines are 1-based. False where nothing uses it, and where the reading statement itself does.
    """
    lines = text.count("\n") + 1
    if not (0 < read <= lines and 0 < written <= lines):
        return False
    source = _parsed(text)
    statement = _statement(source, read)
    if statement is None:
        return False
    start, end = statement
    found = _BARE_READ.match(source.shadow[start:end].strip().rstrip(";").strip())
    function = source.function_at(start)
    if found is None or function is None:
        return False
    uses = [
        start + 1
        for start in _uses(source, function, found["name"])
        if not statement[0] <= start < statement[1]
    ]
    if not uses:
        return False
    call = _line_end(source.text, written)
    inside = function.body.start_byte <= source.line_start(written) < function.body.end_byte
    if inside and written > read:
        return all(use > call for use in uses)
    # The overwriting call comes in another turn of a loop, or lies in another function: all that
    # follows the read in its own function comes first.
    return inside and all(use < start for use in uses)


@lru_cache(maxsize=16)
def _parsed(text: str) -> Source:
    return parse(text)


def _statement(source: Source, line: int) -> tuple[int, int] | None:
    """Begin and end of the innermost statement that a line lies in."""
    first = source.line_start(line)
    last = _line_end(source.text, line)
    at = first + len(source.shadow[first:last]) - len(source.shadow[first:last].lstrip())
    node = source.root.descendant_for_byte_range(at, max(at, last - 1))
    while node is not None and node.type not in ("expression_statement", "declaration"):
        if node.type in ("compound_statement", "translation_unit", "function_definition"):
            inner = [c for c in node.children if c.start_byte <= at < c.end_byte]
            if len(inner) != 1 or inner[0].type not in ("expression_statement", "declaration"):
                return None
            node = inner[0]
            break
        node = node.parent
    return None if node is None else (node.start_byte, node.end_byte)


def _uses(source: Source, function: Function, name: str) -> list[int]:
    body = function.body
    inside = source.shadow[body.start_byte : body.end_byte]
    return [body.start_byte + m.start() for m in re.finditer(rf"\b{re.escape(name)}\b", inside)]


def _line_end(text: str, line: int) -> int:
    at = 0
    for _ in range(line):
        at = text.find("\n", at) + 1
        if at == 0:
            return len(text)
    return at
