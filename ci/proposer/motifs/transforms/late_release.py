"""Rewind of early release: move FreeTensor or EnQue down to the end of its block."""

from __future__ import annotations

from collections.abc import Mapping

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.source.cpp_source import Edit, Source, identifiers


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """`method` is FreeTensor or EnQue; sites are statements with more of the block after them."""
    wanted = str(parameters["method"])
    sites = []
    for method in source.methods:
        statement = method.statement
        block = statement.parent if statement is not None else None
        if method.name != wanted or statement is None or block is None:
            continue
        last = block.named_children[-1]
        if block.type != "compound_statement" or last == statement:
            continue
        code = source.code(last)
        if last.type == "return_statement" or f".{wanted}" in code:
            continue
        place = _latest(source, block, statement, method.object)
        if place is None:
            continue
        text = "\n" + source.indent(statement.start_byte) + source.of(statement)
        move = (
            source.removal(statement.start_byte, statement.end_byte),
            Edit(place.end_byte, place.end_byte, text),
        )
        sites.append(Match(statement.start_byte, move, note=method.arguments[0]))
    return sites


def _latest(source: Source, block: Node, statement: Node, queue: str) -> Node | None:
    """The last statement behind which it may stand: none in between uses the queue again."""
    after = [s for s in block.named_children if s.start_byte >= statement.end_byte]
    free = []
    for one in after:
        if queue in identifiers(source.code(one)):
            break
        free.append(one)
    return free[-1] if free else None
