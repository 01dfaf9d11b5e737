"""Loads wait for the store of the tile before the last, not of the last."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import namespace
from ci.proposer.motifs.transforms.buffers import queue_fields
from ci.proposer.motifs.transforms.nodes import before
from ci.proposer.motifs.transforms.throughs import OUT, waits
from ci.source.cpp_source import Edit, Source, ancestors

TOKEN_BYTES = 32
"""The smallest buffer: nothing is kept in it."""


def late_store_wait(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Flags by which MTE2 waits for a store at once become the turn of a queue of one token.

    The token of a turn is free when the store of the turn before is done: the next tile, for
    which the input queue has a second buffer, is loaded under the store of this one. All pairs of
    a class take the same queue; then each alone does.
    """
    taken = {int(n) for n in re.findall(r"\bstoreTurn(\d+)\b", source.shadow)}
    name = f"storeTurn{max(taken, default=-1) + 1}"
    pairs: dict[str, list[list[Node]]] = {}
    for block in source.blocks:
        statements = [n for n in block.named_children if n.type != "comment"]
        for place, statement in enumerate(statements):
            if statement.start_byte not in source.statement_calls:
                continue
            flags = waits(source, statements, place, OUT)
            if len(flags) > 1:
                pairs.setdefault(_class_of(source, flags[0]), []).append(flags)
    for kind, mine in pairs.items():
        made = _made(source, kind, name)
        for some in [mine, *([one] for one in mine if len(mine) > 1)] if made else []:
            first, *others = (flags[-1].start_byte for flags in some)
            edits = (*made, *(e for flags in some for e in _turn(source, flags, name)))
            note = f"line {source.line(first)}"
            yield Match(first, edits, note=note, others=tuple(others))


def _made(source: Source, kind: str, name: str) -> list[Edit]:
    """The edits that give a class a queue of one token; [] where it has no other queue."""
    inits = (m for m in source.methods if m.name == "InitBuffer" and m.statement is not None)
    init = next((m for m in inits if _class_of(source, m.node) == kind), None)
    members = (n for some in queue_fields(source).values() for n in some)
    member = next((n for n in members if _class_of(source, n) == kind), None)
    function = source.function_at(init.start) if init is not None else None
    if init is None or member is None or function is None:
        return []
    top = next(up for up in ancestors(init.node) if up.parent == function.body)
    pipe, at = source.of(init.node).partition("InitBuffer")[0], namespace(source)
    queue = f"{at}TQueBind<{at}TPosition::VECIN, {at}TPosition::VECOUT, 1> {name};"
    return [
        before(source, member, queue),
        before(source, top, f"{pipe}InitBuffer({name}, 1, {TOKEN_BYTES});"),
    ]


def _turn(source: Source, flags: Sequence[Node], name: str) -> list[Edit]:
    """The edits by which a pair of flags becomes a turn of the queue."""
    at, (*dropped, last) = namespace(source), flags
    turn = (
        f"{at}LocalTensor<uint8_t> token = {name}.AllocTensor<uint8_t>();",
        f"{name}.EnQue(token);",
        f"token = {name}.DeQue<uint8_t>();",
        f"{name}.FreeTensor(token);",
    )
    edge = "\n" + source.indent(last.start_byte)
    text = f"{{{edge}    {f'{edge}    '.join(turn)}{edge}}}"
    return [
        *(source.removal(source.begin(n.start_byte), n.end_byte) for n in dropped),
        Edit(source.begin(last.start_byte), last.end_byte, text),
    ]


def _class_of(source: Source, node: Node) -> str:
    """The class around a node, or of the method around it that is defined outside; '' for none."""
    function = source.function_at(node.start_byte)
    if function is not None and "::" in function.name:
        return function.name.rpartition("::")[0].partition("<")[0]
    kinds = (up for up in ancestors(node) if up.type in ("class_specifier", "struct_specifier"))
    name = next((kind.child_by_field_name("name") for kind in kinds), None)
    return source.code(name).partition("<")[0] if name is not None else ""
