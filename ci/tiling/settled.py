"""Where a number of cores is settled: behind what holds it against the work there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from ci.source.cpp_source import Source, below

_ASSIGNS: Final = {"init_declarator": "declarator", "assignment_expression": "left"}
_STORED: Final = {"init_declarator": "value", "assignment_expression": "right"}
_BOUNDS: Final = re.compile(r"(?:std::)?(?:min|max)(?:<[\w:]+>)?\(", re.I)
SAID: Final = re.compile(r"log|print", re.I)
"""Names of what only says something."""


def settled(source: Source, left: str, statement: Node) -> Iterator[tuple[str, Node]]:
    """The variable that holds the number and the statement that stores it, then each later one of
    its block that only bounds it, such as `cores = n < cores ? n : cores`.

    A limit belongs behind the last one. What these compare with the number would else go one way
    only, so that nobody sees the other. Ends where the number is used for anything else.
    """
    yield left, statement
    following = statement.next_named_sibling
    while following is not None:
        if _mentions(source, following, left):
            bounded = _bounded(source, following, left)
            if bounded:
                left = bounded
                yield left, following
            elif not _only_refuses(source, following):
                return
        following = following.next_named_sibling


def _bounded(source: Source, statement: Node, left: str) -> str:
    """What holds the number behind a statement that bounds it; '' for another statement."""
    if statement.type in ("expression_statement", "declaration"):
        stores = [n for n in statement.named_children if n.type in _ASSIGNS]
        if len(stores) != 1 or re.search(r"\bconst(?:expr)?\b", source.code(statement)):
            return ""
        stored = _stored(source, stores[0], left)
        alone = stored == left or not _used_behind(source, statement, left)
        return stored if alone else ""
    if statement.type != "if_statement":
        return ""
    lines = [*_lines(statement)]
    plain = all(
        line.type == "expression_statement"
        and line.named_child_count == 1
        and line.named_children[0].type == "assignment_expression"
        and _left(source, line.named_children[0]) == left
        for line in lines
    )
    return left if plain and lines else ""


def _lines(statement: Node) -> Iterator[Node]:
    """The statements of an `if`, and of all that follow its `else`."""
    for way in ("consequence", "alternative"):
        inside = statement.child_by_field_name(way)
        if inside is not None and inside.type == "else_clause":
            inside = inside.named_children[0]
        if inside is None:
            continue
        if inside.type == "if_statement":
            yield from _lines(inside)
        elif inside.type == "compound_statement":
            yield from inside.named_children
        else:
            yield inside


def _stored(source: Source, store: Node, left: str) -> str:
    """What is stored to, where it gets the number or a bound of it; '' for anything else."""
    value = store.child_by_field_name(_STORED[store.type])
    if value is None or store.child(1) is None or source.code(store.children[1]) != "=":
        return ""
    code = source.code(value)
    if value.type == "parenthesized_expression":
        value = value.named_children[0]
    if value.type == "conditional_expression":
        ways = [value.child_by_field_name(way) for way in ("consequence", "alternative")]
        plain = any(way is not None and source.code(way) == left for way in ways)
    else:
        plain = bool(_BOUNDS.match(code)) and _mentions(source, value, left)
    return _left(source, store) if plain else ""


def _left(source: Source, store: Node) -> str:
    node = store.child_by_field_name(_ASSIGNS[store.type])
    known = node is not None and node.type in ("identifier", "field_expression")
    return source.code(node) if node is not None and known else ""


def _mentions(source: Source, node: Node, name: str) -> bool:
    return bool(re.search(rf"(?<![\w.>]){re.escape(name)}\b", source.code(node)))


def _used_behind(source: Source, statement: Node, name: str) -> bool:
    following = statement.next_named_sibling
    while following is not None:
        if _mentions(source, following, name) and not _only_refuses(source, following):
            return True
        following = following.next_named_sibling
    return False


def _only_refuses(source: Source, statement: Node) -> bool:
    """Whether a statement only logs, or ends the function where it does anything."""
    if statement.type == "if_statement":
        inside = statement.child_by_field_name("consequence")
        if inside is None or statement.child_by_field_name("alternative") is not None:
            return False
        lines = inside.named_children if inside.type == "compound_statement" else [inside]
        return bool(lines) and lines[-1].type == "return_statement"
    calls = below(statement, "call_expression")
    return bool(calls) and bool(SAID.search(source.code(calls[0]).partition("(")[0]))
