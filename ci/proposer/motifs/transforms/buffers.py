"""How many buffers there are, how large, and in which banks of the unified buffer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations, pairwise

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import clean
from ci.proposer.motifs.transforms.nodes import before, nodes, without
from ci.source.cpp_source import (
    Edit,
    Function,
    Method,
    Source,
    constants,
    identifiers,
    root_name,
    walk,
)

SHIFT_BYTES = 256
"""Half of the 512 bytes after which the 16 bank groups of 32 bytes repeat."""

_BUFFER_COUNT = re.compile(r"buf(?:fer)?_?num|double_?buf|db_?num|queue_?depth|que_?depth", re.I)
_BUFFER_TYPE = re.compile(r"^(?:TQue|TBuf|TQueBind)<")
_TILE = re.compile(r"tile|chunk|ub_?part|per_?(?:loop|time)|block_?len|proc", re.I)
_INTEGER = re.compile(r"\bu?int(?:32|64)_t\b|\bint\b")


def queue_depth(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Constants that count buffers, and literal counts in `InitBuffer` of queues.

    1 → 2 is double buffering, 2 → 1 its rewind.
    """
    old, new = str(parameters["from"]), str(parameters["to"])
    for node, name, value in constants(source):
        if _BUFFER_COUNT.search(source.code(name)) and source.code(value) == old:
            edit = Edit(value.start_byte, value.start_byte + len(old), new)
            yield Match(node.start_byte, (edit,), note=f"{source.code(name)} {old} → {new}")
    for method in source.methods:
        if method.name == "InitBuffer" and len(method.arguments) == 3:
            count = method.argument_nodes[1]
            if source.code(count) == old:
                edit = Edit(count.start_byte, count.end_byte, new)
                yield Match(method.start, (edit,), note=f"{method.arguments[0]} {old} → {new}")


def halve_and_double(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Double buffering where UB is full: two buffers of half a tile instead of one of a whole.

    One site a function that initialises queues by a tile length it is given or computes. The
    kernel's own loop must step by that length; where the host counts the tiles instead, the
    result is wrong and the evaluation says so.
    """
    deeper = tuple(e for s in queue_depth(source, {"from": 1, "to": 2}) for e in s.edits)
    for function in source.functions if deeper else ():
        body = function.body
        inits = [
            m
            for m in source.methods
            if m.name == "InitBuffer"
            and body.start_byte <= m.start < body.end_byte
            and len(m.arguments) >= 2
        ]
        for name in _tile_names(inits):
            halved = _halving(source, function, name, inits[0].start)
            if halved is not None:
                yield Match(halved.start, (halved, *deeper), note=f"half of {name}")
                break


def _tile_names(inits: list[Method]) -> list[str]:
    names = [n for m in inits for n in sorted(identifiers(m.arguments[-1])) if _TILE.search(n)]
    return list(dict.fromkeys(names))


def _halving(source: Source, function: Function, name: str, limit: int) -> Edit | None:
    """The edit that halves a by-value parameter, or a length assigned before the first buffer."""
    declarator = function.node.child_by_field_name("declarator")
    for node in walk(declarator) if declarator is not None else ():
        if node.type != "parameter_declaration":
            continue
        given = node.child_by_field_name("declarator")
        if given is not None and source.code(given) == name and _INTEGER.search(source.code(node)):
            return before(source, function.body.named_children[0], f"{name} /= 2;")
    for node in walk(function.body):
        if node.type != "assignment_expression" or node.end_byte > limit:
            continue
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            continue
        if source.code(left).removeprefix("this->") == name:
            return Edit(right.start_byte, right.end_byte, f"({source.of(right)}) / 2")
    return None


def bank_offset(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Shift a buffer by half a bank period, so that two sources fall in different bank groups.

    Sites are each `InitBuffer` but the first, of a buffer that is declared in the same file.
    """
    fields = queue_fields(source)
    inits = [m for m in source.methods if m.name == "InitBuffer" and m.arguments and m.statement]
    taken = {int(n) for n in re.findall(r"\bbankShift(\d+)\b", source.shadow)}
    number = max(taken, default=-1)
    for previous, method in pairwise(inits):
        place = _place(source, fields.get(root_name(method.arguments[0]), []), method)
        shifted = any("bankShift" in one.arguments[0] for one in (previous, method))
        if place is None or method.statement is None or shifted:
            continue
        number += 1
        name = f"bankShift{number}"
        member = f"AscendC::TBuf<AscendC::TPosition::VECCALC> {name};\n{source.indent(place)}"
        pipe = source.of(method.node).partition("InitBuffer")[0]  # `pipe.` or `pipe->`
        init = before(source, method.statement, f"{pipe}InitBuffer({name}, {SHIFT_BYTES});")
        yield Match(init.start, (init, Edit(place, place, member)), note=method.arguments[0])


def queue_fields(source: Source) -> dict[str, list[Node]]:
    """Where each queue or buffer member is declared: several classes may have one of its name."""
    places: dict[str, list[Node]] = {}
    for node in nodes(source, "field_declaration"):
        if not _BUFFER_TYPE.match(source.code(node)):
            continue
        for name in node.children_by_field_name("declarator"):
            if name.type == "field_identifier":
                places.setdefault(source.code(name), []).append(node)
    return places


def _place(source: Source, declared: list[Node], method: Method) -> int | None:
    """Where the member of a method's own class is declared; the only one for one outside."""
    mine = [
        node
        for node in declared
        if node.parent is not None and node.parent.start_byte <= method.start < node.parent.end_byte
    ]
    chosen = mine or (declared if len(declared) == 1 else [])
    return source.begin(chosen[0].start_byte) if chosen else None


def drop_padding(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Rewind of bank offsets: each `InitBuffer` of a buffer that is never taken goes.

    Such a buffer only shifts those behind it; its declaration stays.
    """
    for method in source.methods:
        if method.name != "InitBuffer" or method.statement is None or len(method.arguments) != 2:
            continue
        name = root_name(method.arguments[0])
        if len(re.findall(rf"\b{re.escape(name)}\b", source.shadow)) == 2:
            edits = (without(source, method.statement),)
            yield Match(method.statement.start_byte, edits, note=name)


def share_buffer(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Pairs of TBufs of one size that are never taken in the same function become one."""
    inits = [
        m
        for m in source.methods
        if m.name == "InitBuffer" and len(m.arguments) == 2 and m.statement
    ]
    takes = [m for m in source.methods if m.name == "Get"]
    homes = {
        m.arguments[0]: {
            f.node.start_byte
            for g in takes
            if g.object == clean(m.arguments[0]) and (f := source.function_at(g.start))
        }
        for m in inits
    }
    for one, two in combinations(inits, 2):
        a, b = one.arguments[0], two.arguments[0]
        if clean(one.arguments[1]) != clean(two.arguments[1]) or not homes[a] or not homes[b]:
            continue
        if homes[a] & homes[b] or _call_each_other(source, homes[a] | homes[b]):
            continue
        assert two.statement is not None
        edits = [without(source, two.statement)]
        for take in takes:
            if take.object == clean(b):
                place = source.shadow.index(clean(b), take.start)
                edits.append(Edit(place, place + len(clean(b)), clean(a)))
        yield Match(two.start, tuple(edits), note=f"{a} and {b}", others=(one.start,))


def _call_each_other(source: Source, starts: set[int]) -> bool:
    """Whether one of the functions calls another: their buffers are then live together."""
    some = [f for f in source.functions if f.node.start_byte in starts]
    return any(
        one is not two and two.name in identifiers(source.code(one.body))
        for one in some
        for two in some
    )
