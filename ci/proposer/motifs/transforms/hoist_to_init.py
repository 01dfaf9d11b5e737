"""Fill a constant buffer once in Init instead of once a tile."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import clean, statement_range
from ci.source.cpp_source import Call, Edit, Function, Method, Source, identifiers, root_name

_LITERAL_WORDS = frozenset({"static_cast", "half", "float", "int32_t", "int16_t", "uint32_t", "T"})


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Duplicates into a TBuf's tensor that nothing else writes, of a value that never changes."""
    inits = {
        clean(m.arguments[0]).removeprefix("this->"): m
        for m in source.methods
        if m.name == "InitBuffer" and len(m.arguments) == 2 and m.statement is not None
    }
    sites = []
    for call in source.calls:
        if call.name != "Duplicate" or call.statement is None or len(call.arguments) != 3:
            continue
        function = source.function_at(call.start)
        buffer = _buffer(source, function, root_name(call.arguments[0])) if function else None
        if function is None or buffer is None or buffer.object not in inits:
            continue
        init = inits[buffer.object]
        home = source.function_at(init.start)
        if home is None or home.body == function.body:
            continue
        if _only_filled_here(source, function, call, buffer) and _constant(source, function, call):
            sites.append(_site(source, call, buffer, init))
    return sites


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
    writers = [
        c
        for c in source.calls_in(function.body)
        if c.arguments and root_name(c.arguments[0]) == name
    ]
    return len(taken) == 1 and len(writers) == 1


def _constant(source: Source, function: Function, call: Call) -> bool:
    """Whether the value is made of literals and of members that Process does not change."""
    names = {n for n in identifiers(call.arguments[1]) if n not in _LITERAL_WORDS and n != "f"}
    code = source.shadow[function.node.start_byte : function.node.end_byte]
    return not any(re.search(rf"(?:\w|>|&)\s+{n}\b\s*[=;,)]", code) for n in names)


def _site(source: Source, call: Call, buffer: Method, init: Method) -> Match:
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
