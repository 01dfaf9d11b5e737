"""How data moves between global memory and the unified buffer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import statement_range
from ci.proposer.motifs.transforms.nodes import after
from ci.source.cpp_source import Call, Edit, Source, ancestors, below, constants

HINT = "SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);"


def cache_hint(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Each `SetGlobalBuffer` statement of a tensor that has no hint yet.

    A hint says to L2 that the tensor is read or written once, so that it displaces nothing reused.
    """
    hinted = {m.object for m in source.methods if m.name == "SetL2CacheHint"}
    for method in source.methods:
        statement = method.statement
        if method.name != "SetGlobalBuffer" or statement is None or method.object in hinted:
            continue
        tensor = source.of(method.node).partition("SetGlobalBuffer")[0]  # `xGm.` or `xGm->`
        edit = after(source, statement, tensor + HINT)
        yield Match(edit.start, (edit,), note=method.object)


def plain_copy(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """DataCopyPad of one block whose parameters are a variable: DataCopy for whole blocks.

    Not where its length is a constant: one way of the test would never be taken.
    """
    for call in source.statement_calls.values():
        if call.name != "DataCopyPad" or len(call.arguments) not in (3, 4):
            continue
        given = call.arguments[2].strip()
        if not re.fullmatch(r"[A-Za-z_]\w*", given) or _guarded(source, call.node):
            continue
        begun = _fields(source, call, given)
        if len(begun) > 1 and not _varies(source, begun[1]):
            continue
        one = "" if begun and source.code(begun[0]) == "1" else f"{given}.blockCount == 1 && "
        start, end = statement_range(source, call)
        indent = source.indent(start)
        prefix = source.text[start : call.start] or "AscendC::"
        plain = (
            f"{prefix}DataCopy({call.arguments[0]}, {call.arguments[1]}, "
            f"AscendC::DataCopyParams(1, static_cast<uint16_t>({given}.blockLen / 32), 0, 0));"
        )
        new = (
            f"if ({one}{given}.blockLen % 32 == 0) {{\n"
            f"{indent}    {plain}\n{indent}}} else {{\n"
            f"{indent}    {source.text[start:end]}\n{indent}}}"
        )
        yield Match(start, (Edit(start, end, new),), note=call.arguments[0])


def _fields(source: Source, call: Call, name: str) -> list[Node]:
    """What a local variable's fields hold, in their order; none where its declaration does not
    say, where there are several, or where it may get another value later."""
    function = source.function_at(call.start)
    if function is None:
        return []
    stores = below(function.body, "assignment_expression", "pointer_expression")
    if any(re.match(rf"&?{name}\b", source.code(store)) for store in stores):
        return []
    given = (one for one in source.calls_in(function.body) if name in one.arguments)
    if any(one.name not in ("DataCopyPad", "DataCopy") for one in given):
        return []
    values = [
        node.child_by_field_name("value")
        for node in below(function.body, "init_declarator")
        if source.code(node.children[0]) == name
    ]
    known = len(values) == 1 and values[0] is not None and values[0].type == "initializer_list"
    return values[0].named_children if known and values[0] is not None else []


def _varies(source: Source, length: Node) -> bool:
    """Whether a length hangs on more than types and constants of the file."""
    if length.type in ("sizeof_expression", "template_argument_list", "type_descriptor"):
        return False
    if length.type == "identifier":
        return source.code(length) not in {source.code(name) for _, name, _ in constants(source)}
    if length.type in ("field_expression", "subscript_expression"):
        return True
    if length.type == "call_expression":
        called = length.child_by_field_name("function")
        given = length.child_by_field_name("arguments")
        cast = called is not None and called.type in ("template_function", "primitive_type")
        return not cast or given is None or any(_varies(source, n) for n in given.named_children)
    return any(_varies(source, one) for one in length.named_children)


def _guarded(source: Source, node: Node) -> bool:
    """Whether the copy already is behind a test of its length."""
    ifs = (up for up in ancestors(node) if up.type == "if_statement")
    tests = (test for up in ifs if (test := up.child_by_field_name("condition")) is not None)
    return any(".blockLen%32" in source.code(test) for test in tests)
