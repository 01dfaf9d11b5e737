"""One instruction for many rows or elements instead of one a turn of a loop, and the rewind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import clean, dead_after, statement_range
from ci.proposer.motifs.transforms.loops import CountingLoop, counting_loops, same, slice_of
from ci.proposer.motifs.transforms.nodes import neighbours, without
from ci.source.cpp_source import Call, Edit, Source
from rules.api import load_api

_TENSOR = re.compile(r"^[A-Za-z_]\w*(?:\[.*\])?$", re.DOTALL)
_COUNT = re.compile(r"^[\w.\->()\s*/+]+$")


def merge_copies(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Loops whose body is one DataCopy of a run as long as both strides become one copy."""
    for loop in counting_loops(source):
        if len(loop.statements) != 1:
            continue
        call = source.statement_calls.get(loop.statements[0].start_byte)
        if call is None or call.name != "DataCopy" or len(call.arguments) != 3:
            continue
        target = slice_of(call.arguments[0], loop.index)
        origin = slice_of(call.arguments[1], loop.index)
        length = call.arguments[2]
        if target is None or origin is None or not target.stride or not origin.stride:
            continue
        if not same(target.stride, length) or not same(origin.stride, length):
            continue
        prefix = source.text[source.begin(call.start) : call.start]
        text = f"{prefix}DataCopy({target.whole}, {origin.whole}, {_times(loop, length)});"
        edit = Edit(loop.node.start_byte, loop.node.end_byte, text)
        yield Match(loop.node.start_byte, (edit,), note=target.tensor)


def rows_to_one(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Loops over rows whose calls all use row `i` of width equal to the count: one call each."""
    for loop in counting_loops(source):
        merged = []
        for statement in loop.statements:
            call = source.statement_calls.get(statement.start_byte)
            if call is not None and call.name == "PipeBarrier":
                merged.append(source.of(statement))
                continue
            text = _merged(source, loop, call) if call is not None else None
            if text is None:
                break
            merged.append(text)
        else:
            if any("PipeBarrier" not in m for m in merged):
                separator = "\n" + source.indent(loop.node.start_byte)
                edit = Edit(loop.node.start_byte, loop.node.end_byte, separator.join(merged))
                yield Match(loop.node.start_byte, (edit,), note=f"loop over {loop.index}")


def _merged(source: Source, loop: CountingLoop, call: Call) -> str | None:
    family = load_api().calls.get(call.name)
    if family is None or not family.elementwise or not family.counts(call.arguments):
        return None
    if call.template:
        return None
    count = call.arguments[-1]
    parts = []
    for argument in call.arguments[: family.tensors]:
        piece = slice_of(argument, loop.index)
        if piece is None or not piece.stride or not same(piece.stride, count):
            return None
        parts.append(piece.whole)
    rest = call.arguments[family.tensors : -1]
    for scalar in rest:
        piece = slice_of(scalar, loop.index)
        if piece is None or piece.stride or "GetValue" in scalar:
            return None
    prefix = source.text[source.begin(call.start) : call.start]
    return f"{prefix}{call.name}({', '.join([*parts, *rest, _times(loop, count)])});"


def _times(loop: CountingLoop, length: str) -> str:
    """Return count * length, with parentheses where a sum needs them."""
    parts = (loop.count, length)
    return " * ".join(f"({p})" if any(c in p for c in "+-?/%<") else p for p in parts)


def split_calls(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """Rewind: element-wise calls, or copies when `copies` is 1, are issued piece by piece.

    `piece` elements a turn; the count must be a multiple of it, or the result shows it.
    """
    piece, copies = str(parameters["piece"]), bool(parameters.get("copies", 0))
    for call in source.statement_calls.values():
        family = load_api().calls.get(call.name)
        if family is None or call.template:
            continue
        if copies:
            fits = call.name == "DataCopy" and len(call.arguments) == 3
        else:
            fits = family.elementwise and family.counts(call.arguments)
        text = _in_pieces(source, call, family.tensors, piece) if fits else None
        if text is not None:
            start, end = statement_range(source, call)
            note = f"{call.name} of {clean(call.arguments[0])}"
            yield Match(start, (Edit(start, end, text),), note=note)


def _in_pieces(source: Source, call: Call, tensors: int, piece: str) -> str | None:
    count = call.arguments[-1].strip()
    if not _COUNT.match(count) or (count.isdigit() and int(count) <= int(piece)):
        return None
    parts = []
    for argument in call.arguments[:tensors]:
        if not _TENSOR.match(argument.strip()):
            return None
        tensor, _, index = argument.strip().partition("[")
        base = f"{index[:-1]} + " if index else ""
        parts.append(f"{tensor}[{base}part * {piece}]")
    prefix = source.text[source.begin(call.start) : call.start]
    given = ", ".join([*parts, *call.arguments[tensors:-1], piece])
    return (
        f"for (int32_t part = 0; part < static_cast<int32_t>({count}) / {piece}; part++) "
        f"{{ {prefix}{call.name}({given}); }}"
    )


def reduce_to_element(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """`ReduceX(s, …); y.SetValue(i, s.GetValue(0));` in one block, where s serves nothing else.

    The reduction then writes the element that the scalar unit would copy the result to.
    """
    reductions = load_api().families["reduction"].names
    stores = {
        m.statement.start_byte: m
        for m in source.methods
        if m.name == "SetValue" and m.statement is not None and len(m.arguments) == 2
    }
    for one, two in neighbours(source):
        call, store = source.statement_calls.get(one.start_byte), stores.get(two.start_byte)
        if call is None or store is None or call.name not in reductions:
            continue
        result = clean(call.arguments[0])
        if not re.fullmatch(r"\w+", result) or result == store.object:
            continue
        if clean(store.arguments[1]) != f"{result}.GetValue(0)":
            continue
        if not dead_after(source, result, one.start_byte, two.end_byte):
            continue
        start, end = statement_range(source, call)
        prefix = source.text[start : call.start]
        target = f"{store.object}[{store.arguments[0]}]"
        text = f"{prefix}{call.name}{call.template}({', '.join((target, *call.arguments[1:]))});"
        yield Match(start, (Edit(start, end, text), without(source, two)), note=target)
