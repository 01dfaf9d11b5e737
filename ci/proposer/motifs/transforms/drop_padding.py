"""Rewind of bank offsets: give up buffers that nothing uses but that shift those behind them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.source.cpp_source import Source, root_name


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Each `InitBuffer` of a buffer that is never taken; its declaration stays."""
    sites = []
    for method in source.methods:
        if method.name != "InitBuffer" or method.statement is None or len(method.arguments) != 2:
            continue
        name = root_name(method.arguments[0])
        if len(re.findall(rf"\b{re.escape(name)}\b", source.shadow)) != 2:
            continue
        start, end = method.statement.start_byte, method.statement.end_byte
        sites.append(Match(start, (source.removal(start, end),), note=name))
    return sites
