"""What of a source is for the device: its launches, and the host functions with them, left out."""

from __future__ import annotations

import re

from ci.source.cpp_source import Function, ancestors, identifiers, parse
from ci.source.cpp_text import blanked, without_comments

_LAUNCH = re.compile(r"\b[\w:]+\s*(?:<[^<>;]*>\s*)?<<<.*?>>>\s*\([^;]*\)\s*;|<<<.*?>>>", re.DOTALL)
_SIDE = re.compile(
    r"(?<![\w\])])\[[ \t]*(?:aicore|host)(?:[ \t]*,[ \t]*(?:aicore|host))*[ \t]*\](?!\s*[({])"
)
"""No subscript, and no capture of a lambda."""
_FOR_DEVICE = re.compile(r"__aicore__|__global__|\[\s*(?:host\s*,\s*)?aicore\b|\bconstexpr\b")
_AROUND = ("linkage_specification", "template_declaration")
"""What a single function may be wrapped in."""


def without_launches(source: str) -> str:
    """The source with launches (`name<<<…>>>(…);`) blanked to equal length: host-side launchers
    become empty functions. Some launch a kernel of another name, which is not there."""
    return _LAUNCH.sub(blanked, source)


def without_attributes(source: str) -> str:
    """The source without the attributes of the device's compiler that say for which side a function
    is (`[aicore]`, `[host]`), blanked to equal length: what __aicore__ stands for there."""
    return _SIDE.sub(blanked, source)


def device_half(text: str) -> str:
    """A source without its host functions, blanked to equal length.

    The device's compiler compiles both halves and calls no host function from the device: a free
    function that is not marked for the device, and that nothing else in the source names, is the
    host's.
    """
    source = parse(text)
    code = without_comments(text)
    left = [one for one in source.functions if _unmarked(code, one)]
    while True:
        kept = code
        for one in left:
            kept = _blank(kept, one)
        named = identifiers(kept)
        called = [one for one in left if one.plain in named or one.name in named]
        if not called:
            break
        left = [one for one in left if one not in called]
    for one in left:
        text = _blank(text, one)
    return text


def _unmarked(code: str, function: Function) -> bool:
    begin = max(code.rfind(end, 0, function.node.start_byte) for end in ";{}") + 1
    head = code[begin : function.body.start_byte]
    around = {node.type for node in ancestors(function.node)}
    inside = around & {"class_specifier", "struct_specifier", "function_definition"}
    return not inside and not _FOR_DEVICE.search(head)


def _blank(text: str, function: Function) -> str:
    node = function.node
    while node.parent is not None and node.parent.type in _AROUND:
        node = node.parent
    start, end = node.start_byte, node.end_byte
    gone = "\n".join(" " * len(line) for line in text[start:end].split("\n"))
    return text[:start] + gone + text[end:]
