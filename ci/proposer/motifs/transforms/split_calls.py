"""Rewind of one instruction for all elements: issue a vector call piece by piece in a loop."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import clean, statement_range
from ci.source.cpp_source import Call, Edit, Source
from rules.api import load_api

_TENSOR = re.compile(r"^[A-Za-z_]\w*(?:\[.*\])?$", re.DOTALL)
_COUNT = re.compile(r"^[\w.\->()\s*/+]+$")


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Element-wise calls, or copies when `copies` is 1, of plain tensors and a count.

    `piece` elements a turn; the count must be a multiple of it, or the result shows it.
    """
    piece, copies = str(parameters["piece"]), bool(parameters.get("copies", 0))
    sites = []
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
            sites.append(Match(start, (Edit(start, end, text),), note=note))
    return sites


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
