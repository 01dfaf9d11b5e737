"""Tiles that are only copied through the unified buffer take turns in the buffers of one queue."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import namespace
from ci.proposer.motifs.transforms.nodes import after, nodes
from ci.source.cpp_source import Edit, Method, Source, constants, identifiers, root_name

_TAKEN = re.compile(
    r"^(?:LocalTensor<[^=]*>|auto )(\w+)=([\w.\->]+)\.(Get|AllocTensor|DeQue)(<.*>)\(\);$"
)
_HANDED = re.compile(r"^([\w.\->]+)\.(EnQue|FreeTensor)(?:<.*>)?\((\w+)\);$")
_FLAG = re.compile(
    r"^(Set|Wait)Flag<HardEvent::(\w+?)_(\w+)>\((.*)\);$|"
    r"^(set|wait)_flag\(PIPE_(\w+),PIPE_(\w+),(.*)\);$"
)
_BARRIER = re.compile(r"^(?:PipeBarrier<PIPE_ALL>\(\)|pipe_barrier\(PIPE_ALL\));$")
_COPIES = frozenset({"DataCopy", "DataCopyPad"})

_Way: TypeAlias = tuple[str, str]
"""The copy engine that goes first, and the one that waits for it."""

IN: _Way = ("MTE2", "MTE3")
OUT: _Way = ("MTE3", "MTE2")


@dataclass
class _Turn:
    """A tile that is copied in and out again in one block, and used for nothing else."""

    tensor: str
    taken: Node
    kind: str
    """Template arguments of the call that takes the buffer."""
    copied: dict[_Way, Node] = field(default_factory=dict)
    """The last copy in, and the last copy out."""
    waits: dict[_Way, list[Node]] = field(default_factory=dict)
    """What waits for the one and for the other: event, set, wait; or a barrier of all pipes."""
    handed: set[str] = field(default_factory=set)
    """Methods of the queue that the turn calls already."""


def copies_through(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Buffers whose tiles are copied in and out again by turns become queues of both engines.

    The waits go: the queue hands its buffers from one copy engine to the other. A TBuf becomes
    `depth` buffers, each of that part of its size, which a constant of the file names.
    """
    depth = int(str(parameters.get("depth", 2)))
    turns: dict[str, list[_Turn]] = {}
    for block in source.blocks:
        for statement in block.named_children:
            found = _turn(source, statement)
            if found is not None:
                turns.setdefault(found[0], []).append(found[1])
    for buffer, mine in turns.items():
        edits = _bound(source, buffer, mine, depth)
        if edits:
            first, *others = (turn.taken.start_byte for turn in mine)
            yield Match(first, tuple(edits), note=buffer, others=tuple(others))


def _turn(source: Source, taken: Node) -> tuple[str, _Turn] | None:
    """(buffer, turn) of a declaration that takes a buffer; None where it does anything else."""
    named = _TAKEN.match(source.code(taken)) if taken.type == "declaration" else None
    if named is None or named[3] == "DeQue":
        return None
    tensor, buffer, kind = named[1], named[2].removeprefix("this->"), named[4]
    turn, names = _Turn(tensor, taken, kind), {tensor}
    later = [s for s in _behind(taken) if s.type != "comment"]
    for place, one in enumerate(later):
        if identifiers(source.code(one)) & (names | {buffer}):
            if not _belongs(source, one, buffer, turn, names):
                return None
            continue
        way = OUT if OUT in turn.copied else IN
        found = waits(source, later, place, way)
        if found and way in turn.copied:
            turn.waits.setdefault(way, found)
    return (buffer, turn) if len(turn.copied) == 2 else None


def _belongs(source: Source, one: Node, buffer: str, turn: _Turn, names: set[str]) -> bool:
    """Whether a statement copies the tile, or hands the buffer on; notes what it did."""
    call, code = source.statement_calls.get(one.start_byte), source.code(one)
    if call is not None and call.name in _COPIES:
        places = [root_name(argument) in names for argument in call.arguments]
        way = IN if places[0] else OUT
        turn.copied[way] = one
        return sum(places) == 1 and any(places[:2]) and (way == OUT or OUT not in turn.copied)
    again = _TAKEN.match(code)
    if again is not None and again[3] == "DeQue" and again[2].removeprefix("this->") == buffer:
        names.add(again[1])
        turn.handed.add("DeQue")
        return IN in turn.copied and OUT not in turn.copied
    handed = _HANDED.match(code)
    if handed is None or handed[1].removeprefix("this->") != buffer or handed[3] not in names:
        return False
    turn.handed.add(handed[2])
    return (OUT not in turn.copied) == (handed[2] == "EnQue")


def _behind(node: Node) -> Iterator[Node]:
    while (later := node.next_named_sibling) is not None:
        yield later
        node = later


def waits(source: Source, statements: Sequence[Node], place: int, way: _Way) -> list[Node]:
    """The statements that make one engine wait for the other here; [] where none does."""
    if _BARRIER.match(source.code(statements[place])):
        return [statements[place]]
    flags = [_FLAG.match(source.code(s)) for s in statements[place : place + 2]]
    parts = [tuple(p for p in m.groups() if p is not None) for m in flags if m is not None]
    if len(parts) < 2 or parts[0][1:] != parts[1][1:] or parts[0][1:3] != way:
        return []
    if (parts[0][0].lower(), parts[1][0].lower()) != ("set", "wait"):
        return []
    return [*_event(source, statements, place), *statements[place : place + 2]]


def _event(source: Source, statements: Sequence[Node], place: int) -> list[Node]:
    """The declaration before a pair of flags of an event that serves nothing else."""
    declared = statements[place - 1] if place else None
    if declared is None or declared.type != "declaration":
        return []
    named = re.match(r"^[\w:]+ (\w+)=[^;]*EventID", source.code(declared))
    block = declared.parent
    if named is None or block is None:
        return []
    uses = re.findall(rf"\b{named[1]}\b", source.shadow[block.start_byte : block.end_byte])
    return [declared] if len(uses) == 3 else []


def _bound(source: Source, buffer: str, turns: Sequence[_Turn], depth: int) -> list[Edit]:
    """The edits that bind a buffer; [] where it serves anything else, or cannot be parted."""
    uses = [m for m in source.methods if m.object == buffer]
    takes = [m for m in uses if m.name in ("Get", "AllocTensor")]
    inits = [
        m
        for m in source.methods
        if m.name == "InitBuffer" and m.arguments and root_name(m.arguments[0]) == buffer
    ]
    if len(takes) != len(turns) or len(inits) != 1 or len({m.name for m in takes}) != 1:
        return []
    queued = takes[0].name == "AllocTensor"
    declared = _declared(source, buffer, queued, depth)
    room = [] if queued else _room(source, inits[0], depth)
    if declared is None or (not queued and not room):
        return []
    edits = [declared, *room]
    for turn, take in zip(turns, takes, strict=True):
        edits += _handed_over(source, turn, take)
    return edits


def _declared(source: Source, buffer: str, queued: bool, depth: int) -> Edit | None:
    """The member's type as a queue between the two copy engines."""
    at, places = namespace(source), "{0}TPosition::VECIN, {0}TPosition::VECOUT"
    for node in nodes(source, "field_declaration"):
        kind, name = node.child_by_field_name("type"), node.children_by_field_name("declarator")
        if kind is None or [source.code(n) for n in name] != [buffer]:
            continue
        code = source.code(kind)
        queue = re.match(r"^TQue<(?:Que|T)Position::VECIN,(\w+)>$", code)
        if not (queue if queued else code.startswith("TBuf<")):
            return None
        count = queue[1] if queue else str(depth)
        text = f"{at}TQueBind<{places.format(at)}, {count}>"
        return Edit(source.begin(kind.start_byte), kind.end_byte, text)
    return None


def _room(source: Source, init: Method, depth: int) -> list[Edit]:
    """Several buffers for one, each of its part of the size that a constant names."""
    if len(init.argument_nodes) != 2:
        return []
    size = init.argument_nodes[1]
    for _, name, value in constants(source):
        if source.code(name) == source.code(size):
            return [
                Edit(size.start_byte, size.start_byte, f"{depth}, "),
                Edit(value.start_byte, value.end_byte, f"({source.of(value)}) / {depth}"),
            ]
    return []


def _handed_over(source: Source, turn: _Turn, take: Method) -> list[Edit]:
    """The buffer handed from one engine to the other, and freed, where the turn waited."""
    owner = source.text[take.start : source.shadow.index(take.name, take.start)].rstrip()
    edits = []
    if take.name == "Get":
        start = take.start + len(owner)
        start = source.shadow.index("Get", start)
        edits.append(Edit(start, start + len("Get"), "AllocTensor"))
    plain = re.sub(r"\s*template$", "", owner)
    passed = [] if "EnQue" in turn.handed else [f"{plain}EnQue({turn.tensor});"]
    if "DeQue" not in turn.handed:
        passed.append(f"{turn.tensor} = {owner}{' ' * (owner != plain)}DeQue{turn.kind}();")
    freed = [] if "FreeTensor" in turn.handed else [f"{plain}FreeTensor({turn.tensor});"]
    for way, lines in ((IN, passed), (OUT, freed)):
        dropped = turn.waits.get(way, [])
        edits += [source.removal(source.begin(n.start_byte), n.end_byte) for n in dropped]
        if lines:
            copied = turn.copied[way]
            separator = "\n" + source.indent(copied.start_byte)
            edits.append(after(source, copied, separator.join(lines)))
    return edits
