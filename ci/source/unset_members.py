"""Members that a constexpr constructor sets in its body alone, as members that begin as zero.

The device's compiler takes such a constructor for a constant, as C++20 does; in C++17 GCC asks that
each member is initialized before the body. Kernels on catlass have coordinates of that kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from ci.source.cpp_source import Source, below, parse

NO_CONSTANT: Final = "called in a constant expression"
"""GCC's words where a function that makes a constant is none that may."""

_CONSTEXPR: Final = re.compile(r"\bconstexpr\b")
_SET: Final = ("field_identifier", "array_declarator", "pointer_declarator")


def with_members_set(text: str) -> str:
    """The text with `{}` behind each member of a class that has a constexpr constructor, where none
    is given; lines stay as they are."""
    if not _CONSTEXPR.search(text):
        return text
    source = parse(text)
    for end in sorted(set(_ends(source)), reverse=True):
        text = f"{text[:end]}{{}}{text[end:]}"
    return text


def _ends(source: Source) -> Iterator[int]:
    """Where the names of members end that nothing initializes."""
    for node in below(source.root, "class_specifier", "struct_specifier"):
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            continue
        lists = [
            found
            for one in body.named_children
            if (found := _initialized(source, one, source.code(name))) is not None
        ]
        always = set.intersection(*lists) if lists else set[str]()
        for member in body.named_children if lists else ():
            # A macro before a method is misread for a type, and the method's mark for a name.
            plain = member.type == "field_declaration" and not member.has_error
            if plain and not _is_static(source, member):
                yield from (end for end, called in _unset(source, member) if called not in always)


def _initialized(source: Source, node: Node, name: str) -> set[str] | None:
    """The members before the body of a constexpr constructor of the class of that name; None where
    the node is none."""
    if node.type == "template_declaration":
        node = node.named_children[-1]
    declared = node.child_by_field_name("declarator")
    if node.type != "function_definition" or declared is None:
        return None
    called = declared.child_by_field_name("declarator")
    if called is None or source.code(called) != name:
        return None
    if not _CONSTEXPR.search(source.shadow[node.start_byte : declared.start_byte]):
        return None
    return {source.code(one.named_children[0]) for one in below(node, "field_initializer")}


def _is_static(source: Source, member: Node) -> bool:
    return any(
        child.type == "storage_class_specifier" and source.code(child) == "static"
        for child in member.children
    )


def _unset(source: Source, member: Node) -> Iterator[tuple[int, str]]:
    """Where a declarator without a value ends, and its name."""
    after = [*member.children[1:], None]
    for at, (child, follows) in enumerate(zip(member.children, after, strict=True)):
        declares = member.field_name_for_child(at) == "declarator" and child.type in _SET
        if declares and (follows is None or follows.type in (",", ";")):
            yield child.end_byte, source.code(below(child, "field_identifier")[0])
