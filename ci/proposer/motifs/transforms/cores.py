"""Work that one core does alone, or that every core does again, is dealt out to all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import namespace
from ci.proposer.motifs.transforms.functions import (
    called_in,
    carried,
    keeps_a_tensor,
    moves_tiles,
    tile_functions,
    tile_loops,
)
from ci.proposer.motifs.transforms.nodes import before
from ci.source.cpp_source import Edit, Function, Source

_CORE = re.compile(r"\bGetBlockIdx\b|\bget_block_idx\b|\bblock_idx\b|\bGetSubBlockIdx\b")
_HEADER = "tiling/platform/platform_ascendc.h"
_HEAD = re.compile(r"^\(\s*[\w:]+(?:\s+[\w:]+)?\s+(\w+)\s*=", re.DOTALL)
_TURN = "coreTurn"


def split_over_cores(
    host: Mapping[str, Source], kernel: Mapping[str, Source], parameters: Mapping[str, object]
) -> Iterator[Mapping[str, Match]]:
    """A kernel that never asks for its core's number: core k of n takes every n-th turn.

    `by: loop` lets the outermost loops that move tiles step by the number of cores, where no
    turn leaves a scalar for the next. `by: turn` runs the loops on every core and lets each
    take its turns of what moves tiles, so that scalars are counted up as before. Where the host
    asks for one core it asks for all of them divided by `share`.
    """
    if any(_CORE.search(source.shadow) for source in kernel.values()):
        return
    blocks = _more_blocks(host, int(str(parameters["share"])))
    if blocks is None:
        return
    for path, source in kernel.items():
        edits = _by_loop(source) if parameters["by"] == "loop" else _by_turn(source)
        if edits:
            edits += _by_one(source)
            yield {path: Match(min(e.start for e in edits), tuple(edits)), **blocks}


def _more_blocks(host: Mapping[str, Source], share: int) -> dict[str, Match] | None:
    """The edits that ask for more cores; {} when the host does already, None when it is unknown."""
    found: dict[str, Match] = {}
    asked = 0
    known = "\n".join(source.shadow for source in host.values())
    for path, source in host.items():
        edits = []
        for method in source.methods:
            if method.name != "SetBlockDim" or len(method.arguments) != 1:
                continue
            asked += 1
            given = source.code(method.argument_nodes[0])
            if _values(known, given) != {"1"}:
                continue
            context = source.of(method.node).partition("SetBlockDim")[0].rstrip(".->")
            platform = f"platform_ascendc::PlatformAscendC({context}->GetPlatformInfo())"
            cores = f"{platform}.GetCoreNumAiv()" + (f" / {share}" if share > 1 else "")
            node = method.argument_nodes[0]
            edits.append(Edit(node.start_byte, node.end_byte, cores))
        if edits:
            if _HEADER not in source.text:
                place = source.text.find("#include")
                edits.append(Edit(max(place, 0), max(place, 0), f'#include "{_HEADER}"\n'))
            found[path] = Match(edits[0].start, tuple(edits))
    if not asked or (not found and share > 1):
        return None
    return found


def _values(text: str, given: str) -> set[str]:
    """What a name is defined or set to, or the literal itself."""
    if given.isdigit():
        return {given}
    name = re.escape(given)
    set_to = re.findall(rf"\b{name}\s*=\s*([^;=][^;]*);", text)
    defined = re.findall(rf"#define[ \t]+{name}[ \t]+(\S+)", text)
    return {value.strip().rstrip("uUlL") for value in (*set_to, *defined)}


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


def _by_one(source: Source) -> list[Edit]:
    """What writes single elements of global memory and moves no tiles stays with one core."""
    at, names = namespace(source), tile_functions(source)
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
        inner = source.indent(body.named_children[0].start_byte)
        leave = f"if ({at}GetBlockIdx() != 0) {{\n{inner}    return;\n{inner}}}"
        edits.append(before(source, body.named_children[0], leave))
    return edits


def _keeps(source: Source) -> bool:
    names = tile_functions(source)
    return any(keeps_a_tensor(source, f) for f in source.functions if f.plain in names)


def _by_loop(source: Source) -> list[Edit]:
    edits: list[Edit] = []
    at = namespace(source)
    for _, loop, body in _outermost(_drivers(source)):
        named = _HEAD.match(source.shadow[loop.start_byte + 3 : body.start_byte].strip())
        start = loop.child_by_field_name("initializer")
        step = loop.child_by_field_name("update")
        if named is None or start is None or step is None or carried(source, body):
            return []
        index = named.group(1)
        if source.code(step) not in (f"{index}++", f"++{index}", f"{index}+=1"):
            return []
        first = source.shadow.index("=", start.start_byte) + 1
        end = start.end_byte - source.shadow[start.start_byte : start.end_byte].endswith(";")
        value = source.text[first:end].strip()
        begin = f" {at}GetBlockIdx()" if value == "0" else f" {value} + {at}GetBlockIdx()"
        edits.append(Edit(first, end, begin))
        edits.append(Edit(step.start_byte, step.end_byte, f"{index} += {at}GetBlockNum()"))
    return [] if _keeps(source) else edits


def _by_turn(source: Source) -> list[Edit]:
    edits: list[Edit] = []
    at = namespace(source)
    counted: set[int] = set()
    names = tile_functions(source)
    if _keeps(source) or any(
        carried(source, f.body) & _members(source) for f in source.functions if f.plain in names
    ):
        return []
    functions = {f.node.start_byte: f for f, _, _ in _drivers(source)}
    for function in functions.values():
        for first, last in _groups(source, function.body):
            if function.node.start_byte not in counted:
                counted.add(function.node.start_byte)
                opening = before(source, function.body.named_children[0], f"uint32_t {_TURN} = 0;")
                edits.append(opening)
            start, indent = source.begin(first.start_byte), source.indent(first.start_byte)
            guard = f"if ({_TURN}++ % {at}GetBlockNum() == {at}GetBlockIdx()) {{\n{indent}    "
            inside = source.text[start : last.end_byte].replace("\n", "\n    ")
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
