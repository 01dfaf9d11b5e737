"""What transforms look for in a syntax tree, and the edits that most of them are made of."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from ci.source.cpp_source import LOOPS, Edit, Source, walk


def nodes(source: Source, *types: str) -> Iterator[Node]:
    """The nodes of some types, in source order."""
    return (node for node in walk(source.root) if node.type in types)


def neighbours(source: Source) -> Iterator[tuple[Node, Node]]:
    """Every statement of a block with the one after it."""
    for block in nodes(source, "compound_statement"):
        yield from pairwise(block.named_children)


def braced_loops(source: Source) -> Iterator[tuple[Node, Node]]:
    """(loop, body) of the loops with a braced body that holds statements."""
    for loop in nodes(source, *LOOPS):
        body = loop.child_by_field_name("body")
        if body is not None and body.type == "compound_statement" and body.named_children:
            yield loop, body


def before(source: Source, node: Node, text: str) -> Edit:
    """Write a statement on a line of its own in front of another."""
    place = source.begin(node.start_byte)
    return Edit(place, place, text + "\n" + source.indent(node.start_byte))


def after(source: Source, node: Node, text: str) -> Edit:
    """Write a statement on a line of its own behind another."""
    return Edit(node.end_byte, node.end_byte, "\n" + source.indent(node.start_byte) + text)


def without(source: Source, node: Node) -> Edit:
    """Delete a statement."""
    return source.removal(node.start_byte, node.end_byte)
