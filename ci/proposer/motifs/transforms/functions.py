"""What the functions of a kernel do: which move tiles, which call those, what they keep."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from tree_sitter import Node

from ci.proposer.motifs.transforms.loops import declared_names
from ci.source.cpp_source import LOOPS, Function, Source, ancestors, identifiers, root_name, walk
from rules.api import load_api

_NONE: frozenset[str] = frozenset()
_QUEUES = frozenset({"AllocTensor", "DeQue", "EnQue", "FreeTensor"})
_COPIES = frozenset({"DataCopy", "DataCopyPad"})
_GET = re.compile(r"\b(\w+)\s*=\s*(?:this->)?(\w+)\s*\.\s*(?:template\s+)?Get\s*<")
_LOCAL = r"(?:LocalTensor\s*<[^;{{}}()]*>|auto)\s*&?\s*{}\b"


@lru_cache(maxsize=256)
def tile_functions(source: Source) -> frozenset[str]:
    """Names of the functions that move tiles: by queues or copies, or by calling such a one."""
    bodies = {f.plain: f.body for f in source.functions}
    found = {name for name, body in bodies.items() if _moves(source, body)}
    while True:
        more = {
            name
            for name, body in bodies.items()
            if name not in found and called_in(source, body) & found
        }
        if not more:
            return frozenset(found)
        found |= more


def moves_tiles(source: Source, node: Node) -> bool:
    """Whether a stretch of code moves tiles, itself or by a function of the same file."""
    return _moves(source, node) or bool(called_in(source, node) & tile_functions(source))


def _moves(source: Source, node: Node) -> bool:
    inside = (node.start_byte, node.end_byte)
    return any(
        m.name in _QUEUES for m in source.methods if inside[0] <= m.start < inside[1]
    ) or any(c.name in _COPIES for c in source.calls_in(node))


def called_in(source: Source, node: Node) -> frozenset[str]:
    """Names of the functions of the same file that a stretch of code calls."""
    own = _own_names(source)
    return identifiers(source.shadow[node.start_byte : node.end_byte]) & own


def buffers_taken(
    source: Source, node: Node, within: frozenset[int] = frozenset(), by: frozenset[str] = _NONE
) -> Counter[str]:
    """How many buffers of each queue a stretch of code takes, on the branch that takes most.

    What the functions of the file take that it calls is counted too. With `within`, only the
    statements that start there count.
    """
    if within and node.start_byte in within and node.type.endswith("statement"):
        within = frozenset()
    found, other = Counter[str](), None
    if node.type in ("if_statement", "preproc_if", "preproc_ifdef", "preproc_elif"):
        other = node.child_by_field_name("alternative")
    elif node.type == "call_expression" and not within:
        found += _allocated(source).get(node.start_byte, Counter())
        called = node.child_by_field_name("function")
        names = called_in(source, called) - by if called is not None else _NONE
        bodies = [f.body for f in source.functions if f.plain in names]
        most = Counter[str]()
        for body in bodies:  # of several classes, only one is in use
            most |= buffers_taken(source, body, by=by | names)
        found += most
    for child in node.named_children:
        if child != other:
            found += buffers_taken(source, child, within, by)
    return found | buffers_taken(source, other, within, by) if other is not None else found


@lru_cache(maxsize=256)
def _allocated(source: Source) -> dict[int, Counter[str]]:
    """The queue that each AllocTensor takes a buffer of, by where the call starts."""
    return {m.start: Counter((m.object,)) for m in source.methods if m.name == "AllocTensor"}


@lru_cache(maxsize=256)
def _own_names(source: Source) -> frozenset[str]:
    return frozenset(f.plain for f in source.functions)


def tile_loops(source: Source) -> Iterator[tuple[Function, Node, Node]]:
    """(function, loop, body) of the loops whose turns move tiles, outer before inner."""
    for function in source.functions:
        for loop in walk(function.body):
            body = loop.child_by_field_name("body") if loop.type in LOOPS else None
            if body is None or body.type != "compound_statement":
                continue
            if moves_tiles(source, body):
                yield function, loop, body


def keeps_a_tensor(source: Source, function: Function) -> bool:
    """Whether a function works on what an earlier call of it left in the unified buffer."""
    api = load_api()
    code = source.shadow[function.node.start_byte : function.node.end_byte]
    for call in source.calls_in(function.body):
        if call.name not in api.calls or not call.arguments:
            continue
        read = {root_name(a) for a in api.read(call.name, call.arguments)}
        for target in {root_name(a) for a in api.written(call.name, call.arguments)} & read:
            if target.isidentifier() and not re.search(_LOCAL.format(re.escape(target)), code):
                return True
    return False


def carried(source: Source, node: Node) -> set[str]:
    """Scalars that one turn leaves for the next: counted up, or set from their own value."""
    names: set[str] = set()
    inside = declared_names(source, node)
    for inner in walk(node):
        if inner.type == "update_expression":
            target = inner.child_by_field_name("argument")
        elif inner.type == "assignment_expression":
            target, value = (inner.child_by_field_name(f) for f in ("left", "right"))
            operator = inner.child_by_field_name("operator")
            own = target is not None and root_name(source.code(target))
            if (
                operator is not None
                and operator.type == "="
                and (value is None or own not in identifiers(source.code(value)))
            ):
                continue
        else:
            continue
        if target is not None and (name := root_name(source.code(target))) not in inside:
            names.add(name)
    return names


def left_in_buffers(source: Source, function: Function, loop: Node) -> bool:
    """Whether the turns of a loop leave something in the unified buffer that is read after it."""
    inside = reached(source, called_in(source, loop))
    pieces = [loop, *(f.body for f in source.functions if f.plain in inside)]
    written = set().union(*(_written(source, piece) for piece in pieces))
    later = "\n".join(source.of(node) for node in run_after(loop, function))
    after = reached(source, identifiers(later) & _own_names(source)) - inside
    texts = [
        later,
        *(
            source.shadow[f.body.start_byte : f.body.end_byte]
            for f in source.functions
            if f.plain in after
        ),
    ]
    named = identifiers("\n".join(texts))
    got = _got(source.of(function.node))
    return bool(written & (named | {got[name] for name in named & got.keys()}))


def scatters(source: Source, loop: Node) -> bool:
    """Whether a loop writes global memory at places that it reads from data: two may be one."""
    inside = reached(source, called_in(source, loop))
    pieces = [loop, *(f.body for f in source.functions if f.plain in inside)]
    for piece in pieces:
        code = source.shadow[piece.start_byte : piece.end_byte]
        read = set(re.findall(r"\b(\w+)\s*=\s*[^;=]*\bGetValue\s*\(", code))
        places = [c.arguments[0] for c in source.calls_in(piece) if c.name in _COPIES]
        places += [
            m.arguments[0]
            for m in source.methods
            if m.name == "SetValue" and piece.start_byte <= m.start < piece.end_byte
        ]
        if any(identifiers(place) & read for place in places):
            return True
    return False


def run_after(block: Node, function: Function) -> Iterator[Node]:
    """The statements of a function that run after a block of it."""
    for below, above in pairwise([block, *ancestors(block)]):
        if above.start_byte < function.body.start_byte:
            return
        if above.type == "compound_statement":
            yield from (n for n in above.named_children if n.start_byte >= below.end_byte)


def reached(source: Source, names: frozenset[str] | set[str]) -> frozenset[str]:
    """The functions of those names, and all of the file that they call."""
    found = frozenset(names)
    while True:
        bodies = (f.body for f in source.functions if f.plain in found)
        more = found.union(*(called_in(source, body) for body in bodies))
        if more == found:
            return found
        found = more


def _got(code: str) -> dict[str, str]:
    """The buffer that each tensor is taken from."""
    return dict(re.findall(_GET, code))


def _written(source: Source, node: Node) -> set[str]:
    """Tensors that a stretch of code writes, by the buffers or names that outlive it."""
    code = source.shadow[node.start_byte : node.end_byte]
    names = {
        root_name(a)
        for call in source.calls_in(node)
        if call.name in load_api().calls and call.arguments
        for a in load_api().written(call.name, call.arguments)
    }
    names |= {
        root_name(m.object)
        for m in source.methods
        if m.name == "SetValue" and node.start_byte <= m.start < node.end_byte
    }
    got = _got(code)
    local = declared_names(source, node) | _in_global_memory(source)
    return {got.get(name, name) for name in names if name in got or name not in local}


@lru_cache(maxsize=256)
def _in_global_memory(source: Source) -> frozenset[str]:
    return frozenset(m.object for m in source.methods if m.name == "SetGlobalBuffer")
