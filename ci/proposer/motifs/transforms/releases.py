"""When a buffer is handed on: FreeTensor behind the last use, EnQue behind the last write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.transforms.nodes import after, without
from ci.source.cpp_source import Edit, Method, Source, identifiers, root_name, walk
from rules.api import load_api


def early_release(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """`method` is FreeTensor or EnQue; sites are statements that something unrelated precedes."""
    wanted = str(parameters["method"])
    for method, statement, block in _releases(source, wanted):
        if not method.arguments:
            continue
        earlier = [s for s in block.named_children if s.end_byte <= statement.start_byte]
        names = _aliases(source, root_name(method.arguments[0]), earlier)
        using = (i for i, s in enumerate(earlier) if identifiers(source.code(s)) & names)
        last = max(using, default=None)
        if last is None or not _worth_passing(source, earlier[last + 1 :]):
            continue
        there = after(source, earlier[last], source.of(statement))
        edits, others = (there, without(source, statement)), (statement.start_byte,)
        yield Match(there.start, edits, note=method.arguments[0], others=others)


def late_release(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Rewind: move it down to the end of its block, or as far as nothing uses the queue again."""
    wanted = str(parameters["method"])
    for method, statement, block in _releases(source, wanted):
        last = block.named_children[-1]
        if last == statement or last.type == "return_statement":
            continue
        if f".{wanted}" in source.code(last):
            continue
        later = (s for s in block.named_children if s.start_byte >= statement.end_byte)
        place = None
        for one in later:
            if method.object in identifiers(source.code(one)):
                break
            place = one.end_byte
        if place is None:
            continue
        text = "\n" + source.indent(statement.start_byte) + source.of(statement)
        move = (without(source, statement), Edit(place, place, text))
        yield Match(statement.start_byte, move, note=method.arguments[0])


def _releases(source: Source, wanted: str) -> Iterator[tuple[Method, Node, Node]]:
    """(call, its statement, the block around it) of each call of a method."""
    for method in source.methods:
        statement = method.statement
        block = statement.parent if statement is not None else None
        if method.name == wanted and statement and block and block.type == "compound_statement":
            yield method, statement, block


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


def _worth_passing(source: Source, passed: Sequence[Node]) -> bool:
    """Whether moving over these statements can save time: some of them compute or copy."""
    api = load_api()
    idle = api.known - set(api.calls)
    own = {f.plain for f in source.functions}
    return any(
        call.name in api.calls or call.name in own or call.name not in idle
        for statement in passed
        for call in source.calls_in(statement)
        if not call.name.startswith("static_cast")
    )
