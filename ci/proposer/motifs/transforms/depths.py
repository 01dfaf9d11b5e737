"""Queues get a second buffer in the kernel, and the host makes room for it, in one step."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.transforms.buffers import queue_depth
from ci.proposer.motifs.transforms.nodes import after
from ci.source.cpp_source import Source

_DEEPER = {"from": 1, "to": 2}


def deeper_queues_with_room(
    host: Mapping[str, Source], kernel: Mapping[str, Source], parameters: Mapping[str, object]
) -> Iterator[Mapping[str, Match]]:
    """Every queue of one buffer gets two, while the host cuts tiles of half the size.

    `by: count` doubles the number of buffers that the host divides by; `by: memory` halves the
    unified buffer that it cuts tiles from.
    """
    deeper = {path: _joined(queue_depth(source, _DEEPER)) for path, source in kernel.items()}
    queues = {path: match for path, match in deeper.items() if match is not None}
    room = _counted(host) if parameters["by"] == "count" else _halved(host)
    if queues and room:
        yield queues | room


def _counted(host: Mapping[str, Source]) -> dict[str, Match]:
    """The constants by which the host divides for the number of buffers, doubled."""
    found = {path: _joined(queue_depth(source, _DEEPER)) for path, source in host.items()}
    return {path: match for path, match in found.items() if match is not None}


def _halved(host: Mapping[str, Source]) -> dict[str, Match]:
    """Half of the unified buffer, where the host asks for its size."""
    found: dict[str, Match | None] = {}
    for path, source in host.items():
        halved = []
        for method in source.methods:
            if method.name != "GetCoreMemSize" or method.statement is None:
                continue
            if len(method.arguments) == 2 and re.search(r"\bUB\b", method.arguments[0]):
                edit = after(source, method.statement, f"{method.arguments[1]} /= 2;")
                halved.append(Match(method.start, (edit,), note=method.arguments[1]))
        found[path] = _joined(halved)
    return {path: match for path, match in found.items() if match is not None}


def _joined(matches: Iterator[Match] | list[Match]) -> Match | None:
    """One match that makes all the edits; None for none."""
    some = list(matches)
    if not some:
        return None
    edits = tuple(edit for match in some for edit in match.edits)
    others = tuple(match.start for match in some[1:])
    return Match(some[0].start, edits, note=some[0].note, others=others)
