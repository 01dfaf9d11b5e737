"""Work that few cores do, or that every core does again, is dealt out to all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import namespace
from ci.proposer.motifs.transforms.crews import Crews, crews, more_blocks
from ci.proposer.motifs.transforms.functions import (
    called_in,
    carried,
    keeps_a_tensor,
    left_in_buffers,
    moves_tiles,
    run_after,
    scatters,
    tile_functions,
    tile_loops,
)
from ci.proposer.motifs.transforms.nodes import before
from ci.source.cpp_source import Edit, Function, Source, ancestors

_HEAD = re.compile(r"^\(\s*[\w:]+(?:\s+[\w:]+)?\s+(\w+)\s*=", re.DOTALL)
_TURN = "coreTurn"


def split_over_cores(
    host: Mapping[str, Source], kernel: Mapping[str, Source], parameters: Mapping[str, object]
) -> Iterator[Mapping[str, Match]]:
    """Split the tiles of each part over n cores: core k takes every n-th turn.

    A kernel that never asks for its core's number has one part. One whose host asks for a fixed
    number of cores has as many parts: several cores share each part and know its number.

    `by: loop` lets the outermost loops that move tiles step by the number of cores, where no
    turn leaves a scalar or a tensor for the next. `by: turn` runs the loops on every core and lets
    each take its turns of what moves tiles, so that scalars are counted up as before. What cannot
    be dealt out stays with the first core of a part. The host asks for the cores that take the
    least time where one gets through `work` elements while another is started.
    """
    shared = crews(host, kernel)
    if shared is None:
        return
    blocks = more_blocks(host, shared, int(str(parameters["work"])))
    if blocks is None:
        return
    for path, source in kernel.items():
        at = namespace(source)
        edits = (_by_loop if parameters["by"] == "loop" else _by_turn)(source, shared.named(at))
        if edits:
            edits += _by_one(source, shared.named(at))
            edits += shared.renumbered(source)
            others = {
                p: Match(0, tuple(more))
                for p, s in kernel.items()
                if p != path and (more := shared.renumbered(s))
            }
            yield {path: Match(min(e.start for e in edits), tuple(edits)), **others, **blocks}


def _drivers(source: Source) -> list[tuple[Function, Node, Node]]:
    """The outermost loops that move tiles, in functions that no such loop calls."""
    loops = list(tile_loops(source))
    inner: set[str] = set()
    for _, _, body in loops:
        inner |= called_in(source, body)
    while more := {
        name
        for f in source.functions
        if f.plain in inner
        for name in called_in(source, f.body)
        if name not in inner
    }:
        inner |= more
    return [one for one in loops if one[0].plain not in inner]


def _outermost(loops: list[tuple[Function, Node, Node]]) -> list[tuple[Function, Node, Node]]:
    return [
        one
        for one in loops
        if not any(o[2].start_byte <= one[1].start_byte < o[2].end_byte for o in loops)
    ]


def _by_one(source: Source, cores: Crews) -> list[Edit]:
    """What writes single elements of global memory and moves no tiles stays with one core."""
    names = tile_functions(source)
    outer = {m.object for m in source.methods if m.name == "SetGlobalBuffer"}
    called = {name for _, _, body in tile_loops(source) for name in called_in(source, body)}
    edits = []
    for function in source.functions:
        body = function.body
        writes = any(
            m.name == "SetValue"
            and m.object in outer
            and body.start_byte <= m.start < body.end_byte
            for m in source.methods
        )
        if not writes or function.plain in names | called:
            continue
        if not re.search(r"\bvoid\b", source.shadow[function.node.start_byte : body.start_byte]):
            continue
        edits.append(_leave(source, body, cores))
    return edits


def _keeps(source: Source) -> bool:
    names = tile_functions(source)
    return any(keeps_a_tensor(source, f) for f in source.functions if f.plain in names)


def _by_loop(source: Source, cores: Crews) -> list[Edit]:
    edits: list[Edit] = []
    drivers: dict[int, list[tuple[Function, Node, Node]]] = {}
    for one in _outermost(_drivers(source)):
        drivers.setdefault(one[0].node.start_byte, []).append(one)
    for loops in drivers.values():
        dealt = {
            loop.start_byte: e
            for f, loop, body in loops
            if (e := _dealt(source, f, loop, body, cores))
        }
        if not dealt:
            return []
        left = [loop for _, loop, _ in loops if loop.start_byte not in dealt]
        alone = _for_one(source, loops[0][0], left, list(dealt), cores)
        if alone is None:
            return []
        edits += alone
        edits += [e for turns in dealt.values() for e in turns]
    return [] if _keeps(source) else edits


def _dealt(source: Source, function: Function, loop: Node, body: Node, cores: Crews) -> list[Edit]:
    """The edits that let a loop step by the cores of a part; [] where its turns need each other."""
    named = _HEAD.match(source.shadow[loop.start_byte + 3 : body.start_byte].strip())
    start = loop.child_by_field_name("initializer")
    step = loop.child_by_field_name("update")
    if named is None or start is None or step is None or carried(source, body):
        return []
    index = named.group(1)
    if source.code(step) not in (f"{index}++", f"++{index}", f"{index}+=1"):
        return []
    if left_in_buffers(source, function, loop) or scatters(source, loop):
        return []
    first = source.shadow.index("=", start.start_byte) + 1
    end = start.end_byte - source.shadow[start.start_byte : start.end_byte].endswith(";")
    value = source.text[first:end].strip()
    if "GetBlock" in value:
        return []
    begin = f" {cores.index}" if value == "0" else f" {value} + {cores.index}"
    return [
        Edit(first, end, begin),
        Edit(step.start_byte, step.end_byte, f"{index} += {cores.count}"),
    ]


def _for_one(
    source: Source, function: Function, left: list[Node], dealt: list[int], cores: Crews
) -> list[Edit] | None:
    """The edits that leave loops to the first core of a part; None where more would go with them.

    The block around a loop is left by the others: nothing may be dealt out in it, nor moved after.
    """
    edits: list[Edit] = []
    for loop in left:
        blocks = [
            node
            for node in ancestors(loop)
            if node.type == "compound_statement" and node.start_byte > function.body.start_byte
        ]
        free = [b for b in blocks if not any(b.start_byte <= d < b.end_byte for d in dealt)]
        if not free or any(moves_tiles(source, n) for n in run_after(free[-1], function)):
            return None
        edits.append(_leave(source, free[-1], cores))
    return list(dict.fromkeys(edits))


def _leave(source: Source, block: Node, cores: Crews) -> Edit:
    """Let only the first core of a part go on in a block."""
    inner = source.indent(block.named_children[0].start_byte)
    leave = f"if ({cores.index} != 0) {{\n{inner}    return;\n{inner}}}"
    return before(source, block.named_children[0], leave)


def _by_turn(source: Source, cores: Crews) -> list[Edit]:
    edits: list[Edit] = []
    counted: set[int] = set()
    names = tile_functions(source)
    if _keeps(source) or any(
        carried(source, f.body) & _members(source) for f in source.functions if f.plain in names
    ):
        return []
    drivers = _drivers(source)
    if any(left_in_buffers(source, f, loop) or scatters(source, loop) for f, loop, _ in drivers):
        return []
    functions = {f.node.start_byte: f for f, _, _ in drivers}
    for function in functions.values():
        for first, last in _groups(source, function.body):
            if function.node.start_byte not in counted:
                counted.add(function.node.start_byte)
                opening = before(source, function.body.named_children[0], f"uint32_t {_TURN} = 0;")
                edits.append(opening)
            start, indent = source.begin(first.start_byte), source.indent(first.start_byte)
            guard = f"if ({_TURN}++ % {cores.count} == {cores.index}) {{\n{indent}    "
            inside = source.text[start : last.end_byte].replace("\n", "\n    ")
            if cores.asks and "GetBlock" in inside:
                return []
            edits.append(Edit(start, last.end_byte, f"{guard}{inside}\n{indent}}}"))
    return edits


def _members(source: Source) -> set[str]:
    return {
        name
        for node in source.root.children
        for name in re.findall(r"\bthis->(\w+)\s*(?:\+=|-=|\+\+|--)", source.code(node))
    }


def _groups(source: Source, block: Node) -> Iterator[tuple[Node, Node]]:
    """Runs of statements that move tiles, in the innermost blocks that hold loops of them."""
    run: list[Node] = []
    for statement in block.named_children:
        nested = _loop_bodies(source, statement)
        if nested:
            if run:
                yield run[0], run[-1]
                run = []
            for body in nested:
                yield from _groups(source, body)
        elif statement.type != "comment" and moves_tiles(source, statement):
            run.append(statement)
        elif run:
            yield run[0], run[-1]
            run = []
    if run:
        yield run[0], run[-1]


def _loop_bodies(source: Source, statement: Node) -> list[Node]:
    """The blocks of a statement that hold a loop of tiles, or are the body of one."""
    if statement.type in ("for_statement", "while_statement"):
        body = statement.child_by_field_name("body")
        braced = body is not None and body.type == "compound_statement"
        return [body] if body is not None and braced and moves_tiles(source, body) else []
    if statement.type not in ("if_statement", "compound_statement", "else_clause"):
        return []
    holds = any(
        loop.start_byte >= statement.start_byte and loop.end_byte <= statement.end_byte
        for _, loop, _ in tile_loops(source)
    )
    if not holds:
        return []
    if statement.type == "compound_statement":
        return [statement]
    found = []
    for child in statement.named_children:
        found += _loop_bodies(source, child)
    return found
