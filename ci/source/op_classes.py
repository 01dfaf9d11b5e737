"""The classes that declare operators, in the text of host sources; needs nothing but the text."""

from __future__ import annotations

import re

from ci.source.cpp_text import (
    DIRECTIVE,
    closing,
    expand,
    function_macros,
    without_comments,
    without_disabled,
)

_HEAD = re.compile(
    r"\b(?:class|struct)\s+(\w+)\s*(?:final\s*)?:(?!:)\s*([\w:,<>\s]{1,300}?)\s*(?=\{)"
)
_ALIAS = re.compile(r"\busing\s+(\w+)\s*=\s*([\w:]+)\s*;|\btypedef\s+([\w:]+)\s+(\w+)\s*;")
_ADDED = re.compile(r"\bOP_ADD\s*\(\s*(?:\w+\s*::\s*)*(\w+)")
_OUTSIDE = re.compile(
    r"\b(\w+)\s*::\s*\1\s*\([^(){};]{0,300}\)[^(){};]*\([^(){};]{0,300}\)\s*(?=\{)"
)
"""The head of a constructor outside of its class, which calls that of the base."""
_BASE = "OpDef"
_MOST_BASES = 20


def compiled_text(text: str) -> str:
    """Text without comments and parts that are switched off."""
    return without_disabled(without_comments(text))


def expanded(own: str, shared: str = "") -> str:
    """`own` text without directives, macros of its own and of `shared` text put in."""
    macros = function_macros(own) | function_macros(shared)
    lines = DIRECTIVE.sub("", own)
    return expand(lines, {k: v for k, v in macros.items() if k != "OP_ADD"})


def op_classes(text: str, shared: str | None = None) -> list[tuple[str, str]]:
    """Type and body of each op definition in `expanded` text, in its order.

    A class may derive from OpDef by others, whose bodies come before its own. `shared` is the text
    of headers, which may hold these, or the class itself; without it each class counts that OP_ADD
    names.
    """
    whole = f"{text}\n{shared or ''}"
    heads = [*_HEAD.finditer(whole)]
    above = {one.group(1): _bases(one.group(2)) for one in heads}
    above |= {name or other: [_last(of or old)] for name, of, old, other in _ALIAS.findall(whole)}
    added = _ADDED.findall(text)
    chains = {one.group(1): _chain(one.group(1), above) for one in heads}
    derived = [one for one in heads if shared is None or _BASE in chains[one.group(1)]]
    classes = [one for one in derived if _BASE in chains[one.group(1)] and one.start() < len(text)]
    if (len(classes) > 1 and added) or not classes:
        classes = [one for one in derived if one.group(1) in added]
    bodies, outside = _bodies(whole, heads)
    by_name = {one.group(1): bodies[one.start()] for one in reversed(heads)} if classes else {}
    found = []
    for one in classes:
        name = one.group(1)
        op_type = name if name in added or not added else added[0]
        above_it = [by_name.get(base, "") + outside.get(base, "") for base in chains[name][:-1]]
        own = bodies[one.start()] + outside.get(name, "")
        found.append((op_type, "\n".join((*filter(None, above_it), own))))
    return found


def _last(name: str) -> str:
    return name.split("::")[-1]


def _bases(listed: str) -> list[str]:
    """The names of the classes that the head of one derives from."""
    plain = re.sub(r"<[^<>]*>", "", listed)
    return [_last(words[-1]) for one in plain.split(",") if (words := one.split())]


def _chain(name: str, above: dict[str, list[str]]) -> list[str]:
    """All that a class derives from, the furthest first, and itself."""
    found = [name]
    for one in found:
        if len(found) < _MOST_BASES:
            found += [base for base in above.get(one, ()) if base not in found]
    return found[::-1]


def _bodies(text: str, heads: list[re.Match[str]]) -> tuple[dict[int, str], dict[str, str]]:
    """Bodies of classes by where their heads begin, and of constructors that are defined outside of
    their classes by name."""
    starts = sorted([*heads, *_OUTSIDE.finditer(text)], key=lambda one: one.start())
    # None has another one inside: each is looked for up to where the next begins.
    ends = [*(one.start() for one in starts[1:]), len(text)]
    bodies: dict[int, str] = {}
    outside: dict[str, str] = {}
    for one, until in zip(starts, ends, strict=False):
        own = text[one.end() : until]
        end = closing(own, 0)
        own = own[: end if end > 0 else len(own)]
        if one.re is _OUTSIDE:
            outside[one.group(1)] = own
        else:
            bodies[one.start()] = own
    return bodies, outside
