"""Shift a buffer by half a bank period, so that two sources fall in different bank groups."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.source.cpp_source import Edit, Source, root_name, walk

SHIFT_BYTES = 256
"""Half of the 512 bytes after which the 16 bank groups of 32 bytes repeat."""

_BUFFER_TYPE = re.compile(r"^(?:TQue|TBuf|TQueBind)<")


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Each `InitBuffer` but the first, of a buffer that is declared in the same file."""
    fields = _fields(source)
    inits = [m for m in source.methods if m.name == "InitBuffer" and m.statement and m.arguments]
    taken = {int(n) for n in re.findall(r"\bbankShift(\d+)\b", source.shadow)}
    sites = []
    number = max(taken, default=-1)
    for before, method in zip(inits, inits[1:], strict=False):
        place = fields.get(root_name(method.arguments[0]))
        if place is None or before.node.parent is None or method.statement is None:
            continue
        if "bankShift" in before.arguments[0]:
            continue
        number += 1
        name = f"bankShift{number}"
        start = method.statement.start_byte
        member = f"AscendC::TBuf<AscendC::TPosition::VECCALC> {name};\n{source.indent(place)}"
        pipe = source.of(method.node).partition("InitBuffer")[0]  # `pipe.` or `pipe->`
        init = f"{pipe}InitBuffer({name}, {SHIFT_BYTES});\n{source.indent(start)}"
        sites.append(
            Match(
                start,
                (Edit(start, start, init), Edit(place, place, member)),
                note=method.arguments[0],
            )
        )
    return sites


def _fields(source: Source) -> dict[str, int]:
    """Where each queue or buffer member is declared."""
    places = {}
    for node in walk(source.root):
        if node.type != "field_declaration" or not _BUFFER_TYPE.match(source.code(node)):
            continue
        name = node.child_by_field_name("declarator")
        if name is not None and name.type == "field_identifier":
            places[source.code(name)] = source.begin(node.start_byte)
    return places
