"""What of a source is for the device, and what is for the host that launches it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from ci.source.cpp_source import Source, ancestors, identifiers, parse
from ci.source.cpp_text import blanked, without_comments

_LAUNCH = re.compile(r"\b[\w:]+\s*(?:<[^<>;]*>\s*)?<<<.*?>>>\s*\([^;]*\)\s*;|<<<.*?>>>", re.DOTALL)
_SIDE = re.compile(
    r"(?<![\w\])])\[[ \t]*(?:aicore|host)(?:[ \t]*,[ \t]*(?:aicore|host))*[ \t]*\](?!\s*[({])"
)
"""No subscript, and no capture of a lambda."""
_FOR_DEVICE = re.compile(r"__aicore__|__global__|\[\s*(?:host\s*,\s*)?aicore\b|\bconstexpr\b")
_ON_DEVICE = re.compile(r"__aicore__|__global__|__sim[dt]_vf__|\[\s*(?:host\s*,\s*)?aicore\b")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[^\n]*", re.MULTILINE)
_AROUND = ("linkage_specification", "template_declaration")
"""What a single definition may be wrapped in."""

_SCOPES = (
    *("namespace_definition", "linkage_specification", "declaration_list"),
    *("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef"),
)
"""What may hold definitions that are in no class and no function."""
_CONDITION = re.compile(r"\s*#\s*(?:if|el|endif)")
_HOLDERS = ("class_specifier", "struct_specifier", "function_definition")


def without_launches(source: str) -> str:
    """The source with launches (`name<<<…>>>(…);`) blanked to equal length: host-side launchers
    become empty functions. Some launch a kernel of another name, which is not there."""
    return _LAUNCH.sub(blanked, source)


def without_attributes(source: str) -> str:
    """The source without the attributes of the device's compiler that say for which side a function
    is (`[aicore]`, `[host]`), blanked to equal length: what __aicore__ stands for there."""
    return _SIDE.sub(blanked, source)


def device_half(text: str) -> str:
    """A source without the functions and classes of its host side, blanked to equal length.

    The device's compiler compiles both halves and calls no host function from the device: what has
    code, is not marked for the device, and is named by nothing else in the source is the host's.
    """
    code = without_comments(text)
    left = [one for one in _definitions(parse(text)) if not _FOR_DEVICE.search(code[one.marked])]
    while True:
        kept = _blank(code, [one.span for one in left])
        named = identifiers(_INCLUDE.sub("", kept))
        called = [one for one in left if one.name in named]
        if not called:
            break
        left = [one for one in left if one not in called]
    return _blank(text, [one.span for one in left])


def without_host_definitions_at(text: str, lines: Collection[int]) -> str:
    """A source without what it defines at any of these lines and does not mark for the device."""
    return without_definitions_at(text, lines, _ON_DEVICE)


def without_definitions_at(text: str, lines: Collection[int], kept: re.Pattern[str]) -> str:
    """A source without what it defines outside of functions at any of these lines (from 1), blanked
    to equal length; what holds a match of `kept` stays."""
    source = parse(text)
    spans = [
        span
        for node in _at_namespace_scope(source.root)
        if any(node.start_point[0] < line <= node.end_point[0] + 1 for line in lines)
        and not kept.search(text[span := _span(source, node)])
    ]
    return _blank(text, spans)


def _at_namespace_scope(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type in _SCOPES:
            yield from _at_namespace_scope(child)
        elif not child.type.startswith(("preproc_", "comment")) and "identifier" not in child.type:
            yield child


def for_device(text: str) -> bool:
    """Whether a source marks anything for the device."""
    return _ON_DEVICE.search(text) is not None


def host_half(text: str) -> str:
    """A source without the functions and classes that are marked for the device, blanked to equal
    length."""
    if not for_device(text):
        return text
    code = without_comments(text)
    found = _definitions(parse(text))
    return _blank(text, [one.span for one in found if _ON_DEVICE.search(code[one.marked])])


@dataclass(frozen=True)
class _Definition:
    """A function, or a class with code, at namespace scope."""

    name: str
    span: slice
    marked: slice
    """Where words say for which side it is: a function's head, all of a class."""


def _definitions(source: Source) -> Iterator[_Definition]:
    for function in source.functions:
        around = [node for node in ancestors(function.node) if node.type in _HOLDERS]
        if any(node.type == "function_definition" for node in around):
            continue
        if not around:
            span = _span(source, function.node)
            yield _Definition(function.plain, span, slice(span.start, function.body.start_byte))
        elif (called := around[-1].child_by_field_name("name")) is not None:
            span = _span(source, around[-1])
            yield _Definition(source.code(called), span, span)


def _span(source: Source, node: Node) -> slice:
    """The text of a definition, from behind what comes before it: the parser sees blanks where the
    words of the device's compiler are, and begins after them."""
    while node.parent is not None and node.parent.type in _AROUND:
        node = node.parent
    begin = max(source.shadow.rfind(end, 0, node.start_byte) for end in ";{}") + 1
    directive = source.shadow.rfind("#", begin, node.start_byte)
    if directive >= 0:
        begin = source.shadow.index("\n", directive) + 1
    end = node.end_byte
    after = source.shadow[end:].lstrip()
    if after.startswith(";"):
        end = source.shadow.index(";", end) + 1
    return slice(begin, end)


def _blank(text: str, spans: Iterable[slice]) -> str:
    parts, done = [], 0
    for span in sorted(spans, key=lambda one: one.start):
        start = max(done, span.start)
        gone = "\n".join(
            line if _CONDITION.match(line) else " " * len(line)  # its other arm may stay
            for line in text[start : span.stop].split("\n")
        )
        parts += [text[done:start], gone]
        done = max(done, span.stop)
    return "".join((*parts, text[done:]))
