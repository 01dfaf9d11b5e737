"""Tell L2 that a tensor is read or written once, so that it does not displace what is reused."""

from __future__ import annotations

from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.source.cpp_source import Edit, Source

HINT = "SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);"


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Each `SetGlobalBuffer` statement of a tensor that has no hint yet."""
    hinted = {m.object for m in source.methods if m.name == "SetL2CacheHint"}
    sites = []
    for method in source.methods:
        statement = method.statement
        if method.name != "SetGlobalBuffer" or statement is None or method.object in hinted:
            continue
        tensor = source.of(method.node).partition("SetGlobalBuffer")[0]  # `xGm.` or `xGm->`
        text = f"\n{source.indent(statement.start_byte)}{tensor}{HINT}"
        place = statement.end_byte
        sites.append(Match(place, (Edit(place, place, text),), note=method.object))
    return sites
