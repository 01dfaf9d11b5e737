"""Use DataCopy where the length turns out to be whole blocks, DataCopyPad only for the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import statement_range
from ci.source.cpp_source import Edit, Source, ancestors


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """DataCopyPad statements whose parameters are a variable with one block."""
    sites = []
    for call in source.calls:
        if call.name != "DataCopyPad" or len(call.arguments) not in (3, 4) or not call.statement:
            continue
        given = call.arguments[2].strip()
        if not re.fullmatch(r"[A-Za-z_]\w*", given) or _guarded(source, call.node):
            continue
        start, end = statement_range(source, call)
        indent = source.indent(start)
        prefix = source.text[start : call.start] or "AscendC::"
        plain = (
            f"{prefix}DataCopy({call.arguments[0]}, {call.arguments[1]}, "
            f"AscendC::DataCopyParams(1, static_cast<uint16_t>({given}.blockLen / 32), 0, 0));"
        )
        new = (
            f"if ({given}.blockCount == 1 && {given}.blockLen % 32 == 0) {{\n"
            f"{indent}    {plain}\n{indent}}} else {{\n"
            f"{indent}    {source.text[start:end]}\n{indent}}}"
        )
        sites.append(Match(start, (Edit(start, end, new),), note=call.arguments[0]))
    return sites


def _guarded(source: Source, node: object) -> bool:
    """Whether the copy already stands behind a test of its length."""
    for up in ancestors(node):  # type: ignore[arg-type]
        if up.type == "if_statement":
            condition = up.child_by_field_name("condition")
            if condition is not None and ".blockLen%32" in source.code(condition):
                return True
    return False
