"""Loops that copy or fill global memory element by element become copies of tiles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import namespace
from ci.proposer.motifs.transforms.banks import less_memory
from ci.proposer.motifs.transforms.element_loops import ElementLoop, element_loops
from ci.proposer.motifs.transforms.nodes import before, nodes
from ci.source.cpp_source import Edit, Source, ancestors, root_name
from rules.api import load_api

_BUFFERS = 2


@dataclass(frozen=True)
class _Helper:
    """A method that moves a stretch of global memory, with a queue of its own."""

    queue: str
    declared: str
    head: str
    load: str


_HELPERS = {
    "copy": _Helper(
        "elementCopies",
        "TQueBind<{at}TPosition::VECIN, {at}TPosition::VECOUT, 2> elementCopies;",
        """CopyElements({at}GlobalTensor<Element>& target, int64_t to,
                                        {at}GlobalTensor<Element>& origin, int64_t from,
                                        int64_t count)""",
        """{at}DataCopyPad(part, origin[from + done],
                        {at}DataCopyExtParams{{1, bytes, 0, 0, 0}},
                        {at}DataCopyPadExtParams<Element>{{false, 0, 0, 0}});""",
    ),
    "fill": _Helper(
        "elementFills",
        "TQue<{at}TPosition::VECOUT, 2> elementFills;",
        """FillElements({at}GlobalTensor<Element>& target, int64_t to,
                                        Element value, int64_t count)""",
        "{at}Duplicate(part, value, static_cast<int32_t>(size));",
    ),
}
_CODE = """
    template <typename Element>
    __aicore__ inline void {head}
    {{
        constexpr int64_t most = {tile} / static_cast<int64_t>(sizeof(Element));
        for (int64_t done = 0; done < count; done += most) {{
            const int64_t size = count - done < most ? count - done : most;
            const uint32_t bytes = static_cast<uint32_t>(size * sizeof(Element));
            {at}LocalTensor<Element> part = {queue}.template AllocTensor<Element>();
            {load}
            {queue}.EnQue(part);
            part = {queue}.template DeQue<Element>();
            {at}DataCopyPad(target[to + done], part, {at}DataCopyExtParams{{1, bytes, 0, 0, 0}});
            {queue}.FreeTensor(part);
        }}
    }}
    {at}{declared}
"""


def elements_to_tiles(
    host: Mapping[str, Source], kernel: Mapping[str, Source], parameters: Mapping[str, object]
) -> Iterator[Mapping[str, Match]]:
    """Loops over `SetValue` of global memory: tiles of `tile` bytes through two buffers a queue.

    All such loops of a file at once: a tensor is written by the scalar unit or by copies, never by
    both. The number of elements is what the loop's condition leaves, none when it is false at once.
    Where the host asks for the size of the unified buffer it leaves the bytes for the queues free.
    """
    tile = int(str(parameters["tile"]))
    for path, source in kernel.items():
        for match, room in _of_file(source, tile):
            yield {path: match, **less_memory(host, room)}


def _of_file(source: Source, tile: int) -> Iterator[tuple[Match, int]]:
    loops = _alone(source, element_loops(source))
    if not loops:
        return
    owners = {_owner(source, loop.node) for loop in loops}
    classes = [n for n in nodes(source, "class_specifier", "struct_specifier") if _name(n, source)]
    body = next(
        (n.child_by_field_name("body") for n in classes if {_name(n, source)} == owners), None
    )
    place = _first_buffer(source, owners)
    if body is None or place is None:
        return
    pipe, statement = place
    kinds = sorted({move.kind for loop in loops for move in loop.moves})
    at = namespace(source)
    edits = [_moved(source, loop, n) for n, loop in enumerate(loops, 1)]
    helpers = [_HELPERS[kind] for kind in kinds]
    for helper in helpers:
        made = f"{pipe}InitBuffer({helper.queue}, {_BUFFERS}, {tile});"
        edits.append(before(source, statement, made))
    code = "".join(_code(helper, at, tile) for helper in helpers)
    edits.append(Edit(body.end_byte - 1, body.end_byte - 1, code))
    starts = [loop.node.start_byte for loop in loops]
    note = ", ".join(dict.fromkeys(move.target for loop in loops for move in loop.moves))
    yield (
        Match(starts[0], tuple(edits), note=note, others=tuple(starts[1:])),
        _BUFFERS * tile * len(kinds),
    )


def _code(helper: _Helper, at: str, tile: int) -> str:
    head, load, declared = (
        part.format(at=at) for part in (helper.head, helper.load, helper.declared)
    )
    return _CODE.format(
        head=head, load=load, declared=declared, queue=helper.queue, at=at, tile=tile
    )


def _moved(source: Source, loop: ElementLoop, number: int) -> Edit:
    name = f"elements{number}"
    first, *others = loop.counts
    lines = [f"int64_t {name} = {first};"]
    lines += [f"{name} = {other} < {name} ? {other} : {name};" for other in others]
    lines.append(f"{name} = {name} < 0 ? 0 : {name};")
    for move in loop.moves:
        if move.kind == "copy":
            call = f"CopyElements({move.target}, {move.to}, {move.origin}, {move.start}, {name});"
        else:
            value = f"static_cast<{move.type}>({move.origin})"
            call = f"FillElements<{move.type}>({move.target}, {move.to}, {value}, {name});"
        lines.append(call)
    lines += [f"{counter} += {name};" for counter in loop.counters]
    node = loop.node
    indent = source.indent(node.start_byte)
    if node.parent is None or node.parent.type != "compound_statement":
        indent += "    "
        lines = ["{", *lines[:-1], f"{lines[-1]}\n{source.indent(node.start_byte)}}}"]
    return Edit(node.start_byte, node.end_byte, f"\n{indent}".join(lines))


def _alone(source: Source, loops: list[ElementLoop]) -> list[ElementLoop]:
    """The loops whose tensors no other scalar access, and no copy the wrong way, touches."""
    api = load_api()
    read, written = set(), set()
    for call in source.calls:
        if call.name in api.calls:
            read |= {root_name(a) for a in api.read(call.name, call.arguments)}
            written |= {root_name(a) for a in api.written(call.name, call.arguments)}
        elif call.name.startswith("DataCacheClean"):
            read |= {root_name(a) for a in call.arguments}
    while True:
        inside = [(loop.node.start_byte, loop.node.end_byte) for loop in loops]
        outside = [
            m
            for m in source.methods
            if m.name in ("GetValue", "SetValue")
            and not any(start <= m.start < end for start, end in inside)
        ]
        busy = {root_name(m.object) for m in outside} | read
        changed = {root_name(m.object) for m in outside if m.name == "SetValue"} | written
        changed |= {move.target for loop in loops for move in loop.moves}
        kept = [
            loop
            for loop in loops
            if not any(
                m.target in busy or (m.kind == "copy" and m.origin in changed) for m in loop.moves
            )
        ]
        if len(kept) == len(loops):
            return kept
        loops = kept


def _owner(source: Source, node: Node) -> str:
    """The class whose method a node is in; '' outside of classes."""
    function = source.function_at(node.start_byte)
    if function is None:
        return ""
    if "::" in function.name:
        return re.sub(r"<.*>", "", function.name).rpartition("::")[0]
    for above in ancestors(function.node):
        if above.type in ("class_specifier", "struct_specifier"):
            return _name(above, source)
    return ""


def _name(node: Node, source: Source) -> str:
    name = node.child_by_field_name("name")
    return source.code(name) if name is not None and node.child_by_field_name("body") else ""


def _first_buffer(source: Source, owners: set[str]) -> tuple[str, Node] | None:
    """(`pipe.`, the statement of the function's body) of the class's first call of InitBuffer."""
    inits = [
        m for m in source.methods if m.name == "InitBuffer" and {_owner(source, m.node)} == owners
    ]
    functions = {f.node.start_byte: f for m in inits if (f := source.function_at(m.start))}
    if len(functions) != 1:
        return None
    (function,) = functions.values()
    first = inits[0]
    statement = next(
        s for s in function.body.named_children if s.start_byte <= first.start < s.end_byte
    )
    return source.of(first.node).partition("InitBuffer")[0], statement
