"""Move a FreeTensor up to behind the last use, or an EnQue up to behind the last write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.source.cpp_source import Edit, Source, identifiers, root_name, walk


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """`method` is FreeTensor or EnQue; sites are statements that something unrelated precedes."""
    wanted = str(parameters["method"])
    sites = []
    for method in source.methods:
        statement = method.statement
        if method.name != wanted or statement is None or not method.arguments:
            continue
        block = statement.parent
        if block is None or block.type != "compound_statement":
            continue
        before = [s for s in block.named_children if s.end_byte <= statement.start_byte]
        names = _aliases(source, root_name(method.arguments[0]), before)
        last = max((i for i, s in enumerate(before) if _touches(source, s, names)), default=None)
        if last is None or not _worth_passing(source, before[last + 1 :], wanted):
            continue
        place = before[last].end_byte
        text = "\n" + source.indent(before[last].start_byte) + source.of(statement)
        sites.append(
            Match(
                place,
                (
                    Edit(place, place, text),
                    source.removal(statement.start_byte, statement.end_byte),
                ),
                note=method.arguments[0],
                others=(statement.start_byte,),
            )
        )
    return sites


def _aliases(source: Source, name: str, statements: Sequence[Node]) -> set[str]:
    """The tensor and the local names that are made from it."""
    names = {name}
    for statement in statements:
        if statement.type != "declaration":
            continue
        for node in walk(statement):
            if node.type == "init_declarator":
                left = node.child_by_field_name("declarator")
                right = node.child_by_field_name("value")
                if left and right and identifiers(source.code(right)) & names:
                    names |= identifiers(source.code(left))
    return names


def _touches(source: Source, statement: Node, names: set[str]) -> bool:
    return bool(identifiers(source.code(statement)) & names)


def _worth_passing(source: Source, passed: Sequence[Node], wanted: str) -> bool:
    """Whether moving over these statements can save time: some of them compute or copy."""
    code = [source.code(s) for s in passed]
    return any("(" in c and f".{wanted}" not in c and "AllocTensor" not in c for c in code)
