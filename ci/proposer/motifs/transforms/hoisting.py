"""What gives the same in every turn or tile is done once before, and the rewinds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import clean, statement_range
from ci.proposer.motifs.transforms.loops import written_names
from ci.proposer.motifs.transforms.nodes import before, braced_loops, neighbours, without
from ci.source.cpp_source import Call, Edit, Function, Method, Source, identifiers, root_name
from rules.api import load_api

_NOT_DATA = re.compile(r"^(?:RoundMode|CAST_\w+|CMPMODE|static_cast|sizeof|this)$")
_LITERAL_WORDS = frozenset(
    {"static_cast", "half", "float", "int32_t", "int16_t", "uint32_t", "T", "f"}
)
_STEP = re.compile(r"^(?:this->)?([A-Z]\w*)\(([\w, ]*)\);$")
_TURN = re.compile(r"copy|out|compute|process|row|tile|step|next|store|write|save|free|calc", re.I)


def hoist_invariant(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Vector calls named in `calls` (separated by |) directly in a loop's body, whose operands
    do not change there, move in front of the loop."""
    wanted = set(str(parameters["calls"]).split("|"))
    for loop, body in braced_loops(source):
        for call in source.calls_in(body):
            if call.name in wanted and _invariant(source, loop, body, call):
                start, end = statement_range(source, call)
                moved = before(source, loop, source.text[start:end])
                note = f"{call.name} of {root_name(call.arguments[0])}"
                yield Match(start, (moved, source.removal(start, end)), note=note)


def _invariant(source: Source, loop: Node, body: Node, call: Call) -> bool:
    """Whether a call of the body gives the same in every turn, and nothing uses its result yet."""
    if not call.arguments or call.statement is None or call.statement.parent != body:
        return False
    head = [c for c in loop.named_children if c != body]
    others = [s for s in body.named_children if s != call.statement]
    changing = set().union(*(written_names(source, s) for s in (*others, *head)))
    needed = {n for a in call.arguments for n in identifiers(a) if not _NOT_DATA.match(n)}
    target = root_name(call.arguments[0])
    if target in changing or needed & changing:
        return False
    earlier = [s for s in others if s.end_byte <= call.statement.start_byte]
    return not any(target in identifiers(source.code(s)) for s in earlier)


def sink_into_loop(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Rewind: calls named in `calls` move into the loop that follows at once, when it does not
    write their result."""
    wanted = set(str(parameters["calls"]).split("|"))
    bodies = {loop.start_byte: body for loop, body in braced_loops(source)}
    for one, loop in neighbours(source):
        call, body = source.statement_calls.get(one.start_byte), bodies.get(loop.start_byte)
        if call is None or body is None or call.name not in wanted or not call.arguments:
            continue
        if root_name(call.arguments[0]) in written_names(source, body):
            continue
        start, end = statement_range(source, call)
        moved = before(source, body.named_children[0], source.text[start:end])
        note = f"{call.name} of {root_name(call.arguments[0])}"
        yield Match(start, (source.removal(start, end), moved), note=note)


def load_once(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """The first statement of a loop's body when it calls a step of the kernel's own by names that
    no turn changes, and its name does not say that it works on a turn's data."""
    for loop, body in braced_loops(source):
        first = body.named_children[0]
        step = _step(source, first)
        if step is None or len(body.named_children) < 2 or _TURN.search(step[0]):
            continue
        if identifiers(step[1]) & written_names(source, loop):
            continue
        edits = (before(source, loop, source.of(first)), without(source, first))
        yield Match(loop.start_byte, edits, note=step[0])


def load_each_turn(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Rewind: the step right before a loop moves into it."""
    for loop, body in braced_loops(source):
        step = loop.prev_named_sibling
        named = _step(source, step) if step is not None else None
        if step is not None and named is not None:
            into = before(source, body.named_children[0], source.of(step))
            yield Match(step.start_byte, (without(source, step), into), note=named[0])


def _step(source: Source, node: Node) -> tuple[str, str] | None:
    """(name, arguments) of a statement that calls a function of the kernel's own."""
    found = _STEP.match(source.code(node))
    if found is None or found.group(1) in load_api().known:
        return None
    return found.group(1), found.group(2)


def hoist_to_init(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Fill a constant buffer once in Init instead of once a tile.

    Sites are Duplicates into a TBuf's tensor that nothing else writes, of a value that never
    changes.
    """
    inits = {
        clean(m.arguments[0]).removeprefix("this->"): m
        for m in source.methods
        if m.name == "InitBuffer" and len(m.arguments) == 2 and m.statement is not None
    }
    for call in source.statement_calls.values():
        function = source.function_at(call.start)
        if call.name != "Duplicate" or len(call.arguments) != 3 or function is None:
            continue
        buffer = _buffer(source, function, root_name(call.arguments[0]))
        if buffer is None or buffer.object not in inits:
            continue
        init = inits[buffer.object]
        home = source.function_at(init.start)
        if home is None or home.body == function.body:
            continue
        if _only_filled_here(source, function, call, buffer) and _constant(source, function, call):
            yield _filled(source, call, buffer, init)


def _buffer(source: Source, function: Function, tensor: str) -> Method | None:
    """The `buffer.Get<T>()` that a local tensor is declared with."""
    code = source.shadow[function.body.start_byte : function.body.end_byte]
    found = re.search(rf"\b{tensor}\s*=\s*", code)
    if not found:
        return None
    place = function.body.start_byte + found.end()
    return next((m for m in source.methods if m.name == "Get" and m.start == place), None)


def _only_filled_here(source: Source, function: Function, call: Call, buffer: Method) -> bool:
    """Whether the buffer is taken once and its tensor written by this Duplicate alone."""
    taken = [m for m in source.methods if m.name == "Get" and m.object == buffer.object]
    name = root_name(call.arguments[0])
    calls = source.calls_in(function.body)
    writers = [c for c in calls if c.arguments and root_name(c.arguments[0]) == name]
    return len(taken) == 1 and len(writers) == 1


def _constant(source: Source, function: Function, call: Call) -> bool:
    """Whether the value is made of literals and of members that Process does not change."""
    names = identifiers(call.arguments[1]) - _LITERAL_WORDS
    code = source.shadow[function.node.start_byte : function.node.end_byte]
    return not any(re.search(rf"(?:\w|>|&)\s+{n}\b\s*[=;,)]", code) for n in names)


def _filled(source: Source, call: Call, buffer: Method, init: Method) -> Match:
    assert init.statement is not None
    start, end = statement_range(source, call)
    indent = source.indent(init.start)
    name = root_name(call.arguments[0])
    element = buffer.template.strip("<>")
    count = f"static_cast<int32_t>(({init.arguments[1]}) / sizeof({element}))"
    text = (
        f"\n{indent}AscendC::LocalTensor<{element}> {name} = {buffer.object}.template "
        f"Get<{element}>();\n{indent}AscendC::Duplicate({name}, {call.arguments[1]}, {count});"
    )
    place = init.statement.end_byte
    return Match(start, (Edit(place, place, text), source.removal(start, end)), note=name)
