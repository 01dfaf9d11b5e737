"""Change how many buffers a queue has: 1 → 2 is double buffering, 2 → 1 its rewind."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.source.cpp_source import Edit, Source, constants

_BUFFER_COUNT = re.compile(r"buf(?:fer)?_?num|double_?buf|db_?num|queue_?depth|que_?depth", re.I)


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """Constants that count buffers, and literal counts in `InitBuffer` of queues."""
    before, after = str(parameters["from"]), str(parameters["to"])
    sites = []
    for node, name, value in constants(source):
        if not _BUFFER_COUNT.search(source.code(name)):
            continue
        if source.code(value) == before:
            edit = Edit(value.start_byte, value.start_byte + len(before), after)
            sites.append(Match(node.start_byte, (edit,), note=source.code(name)))
    for method in source.methods:
        if method.name == "InitBuffer" and len(method.arguments) == 3:
            count = method.argument_nodes[1]
            if source.code(count) == before:
                edit = Edit(count.start_byte, count.end_byte, after)
                sites.append(Match(method.start, (edit,), note=method.arguments[0]))
    return sites
