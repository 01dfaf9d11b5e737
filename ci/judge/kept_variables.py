"""Finds variables of a host side that outlive a call: what one call leaves, another one finds.

A tiling that counts its calls is right in all that a judge asks, and wrong the thousandth time. In
a kernel the linker shows such variables; a host program has those of the framework, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from ci.source.cpp_source import Source, ancestors, below, parse, walk

_SCOPES = (
    "translation_unit",
    "namespace_definition",
    "declaration_list",
    "linkage_specification",
    "preproc_if",
    "preproc_ifdef",
    "preproc_else",
)


class Kept(NamedTuple):
    """A variable, by its declaration without the value: that may be tuned."""

    text: str
    line: int


def kept_variables(text: str) -> list[Kept]:
    """Variables of a source that are not constant and live as long as the program."""
    source = parse(text)
    return [
        Kept(_without_value(source, one), source.line(one.start_byte))
        for node in below(source.root, "declaration", "field_declaration")
        if _stays(source, node)
        for one in node.children_by_field_name("declarator")
    ]


def _without_value(source: Source, declarator: Node) -> str:
    inner = declarator.child_by_field_name("declarator")
    return source.code(inner if declarator.type == "init_declarator" and inner else declarator)


def _stays(source: Source, node: Node) -> bool:
    words = {
        source.code(child)
        for child in node.children
        if "specifier" in child.type or "qualifier" in child.type
    }
    if words & {"const", "constexpr", "extern", "typedef", "using", "friend"}:
        return False
    everywhere = node.type == "declaration" and all(a.type in _SCOPES for a in ancestors(node))
    if not (everywhere or words & {"static", "thread_local"}):
        return False
    return any(_is_variable(one) for one in node.children_by_field_name("declarator"))


def _is_variable(declarator: Node) -> bool:
    """Whether it declares a variable: no function, but a pointer to one counts."""
    inner = [declarator, *_declarators(declarator)]
    kinds = [one.type for one in inner]
    return "function_declarator" not in kinds or "parenthesized_declarator" in kinds


def _declarators(node: Node) -> Iterator[Node]:
    value = node.child_by_field_name("value")
    for one in walk(node):
        if value is not None and value.start_byte <= one.start_byte:
            continue
        if one.type.endswith("declarator"):
            yield one
