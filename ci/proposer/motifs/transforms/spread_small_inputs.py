"""Tiling: let small inputs use several cores instead of one."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.source.cpp_source import Edit, Source, walk

_CORES = re.compile(r"core|block_?dim|aiv|num_?blocks", re.I)
_ONE = re.compile(r"^\{?([\w.\->]+)=1[uUlL]*;\}?$")


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """`if (it fits one tile) cores = 1; else …` becomes the else branch alone."""
    sites = []
    for node in walk(source.root):
        if node.type == "if_statement":
            site = _statement(source, node)
        elif node.type == "conditional_expression":
            site = _expression(source, node)
        else:
            site = None
        if site is not None:
            sites.append(site)
    return sites


def _statement(source: Source, node: Node) -> Match | None:
    then = node.child_by_field_name("consequence")
    other = node.child_by_field_name("alternative")
    one = _ONE.match(source.code(then)) if then is not None else None
    if then is None or one is None or not _CORES.search(one.group(1)):
        return None
    if not _about_size(source, node) or one.group(1) + "==" in source.code(node)[:80]:
        return None
    if other is None:
        return Match(node.start_byte, (source.removal(node.start_byte, node.end_byte),))
    body = other.named_children[0] if other.type == "else_clause" else other
    if body.type == "if_statement":
        return None
    text = source.of(body)
    if body.type == "compound_statement" and len(body.named_children) == 1:
        inner = body.named_children[0]
        text = source.of(inner)
    return Match(node.start_byte, (Edit(node.start_byte, node.end_byte, text),), note=one.group(1))


def _expression(source: Source, node: Node) -> Match | None:
    then = node.child_by_field_name("consequence")
    other = node.child_by_field_name("alternative")
    if then is None or other is None or source.code(then) not in ("1", "1U"):
        return None
    holder = node.parent
    while holder is not None and holder.type in ("parenthesized_expression", "cast_expression"):
        holder = holder.parent
    if holder is None or not _CORES.search(source.code(holder).split("=")[0]):
        return None
    if not _about_size(source, node):
        return None
    return Match(node.start_byte, (Edit(node.start_byte, node.end_byte, source.of(other)),))


def _about_size(source: Source, node: Node) -> bool:
    """Whether the condition compares amounts, not whether a count is zero."""
    condition = node.child_by_field_name("condition")
    code = source.code(condition) if condition is not None else ""
    return bool(re.search(r"[<>]=?", code)) and not re.search(r"[<>]=?[01]\)?$", code)
