"""Buffers are placed so that the operands of a vector instruction fall in different bank groups."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, product

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.transforms.buffers import SHIFT_BYTES, bank_offset
from ci.proposer.motifs.transforms.nodes import after
from ci.source.cpp_source import Function, Source, root_name, walk
from rules.api import load_api

MOST_BUFFERS = 12
"""Buffers of a function whose placing is looked for among all: 2048 ways."""

_TAKEN = re.compile(
    r"\b(\w+)\s*=\s*(?:this\s*->\s*)?(\w+)\s*\.\s*(?:template\s+)?(?:AllocTensor|DeQue|Get)\s*<"
)


def part_operands(source: Source, parameters: Mapping[str, object]) -> Iterator[Match]:
    """The fewest shifts by half a bank period that part the operands of most instructions.

    One site a file: the buffers of each function in the order of its calls of `InitBuffer`.
    """
    moving: set[int] = set()
    for function in source.functions:
        body = function.body
        inits = [
            m
            for m in source.methods
            if m.name == "InitBuffer" and m.arguments and body.start_byte <= m.start < body.end_byte
        ]
        order = list(dict.fromkeys(root_name(m.arguments[0]) for m in inits))
        pairs = _pairs(source, order)
        if not pairs or len(order) > MOST_BUFFERS:
            continue
        group = _grouped(order, pairs)
        moving |= {
            later.start
            for earlier, later in pairwise(inits)
            if group[root_name(earlier.arguments[0])] != group[root_name(later.arguments[0])]
        }
    inits = [m for m in source.methods if m.name == "InitBuffer"]
    starts = {m.statement.start_byte: m.start for m in inits if m.statement is not None}
    found = [m for m in bank_offset(source, {}) if starts.get(m.start, m.start) in moving]
    if found:
        edits = tuple(edit for match in found for edit in match.edits)
        note = ", ".join(match.note for match in found[:3])
        others = tuple(match.start for match in found[1:])
        yield Match(found[0].start, edits, note=note, others=others)


def _pairs(source: Source, buffers: list[str]) -> Counter[tuple[str, str]]:
    """How many vector calls read a pair of buffers."""
    taken = {n: b for n, b in _tensors(source).items() if b in buffers}
    found: Counter[tuple[str, str]] = Counter()
    api = load_api()
    for call in source.calls:
        family = api.calls.get(call.name)
        if family is None or not family.computes:
            continue
        read = [taken.get(root_name(a)) for a in api.read(call.name, call.arguments)]
        known = sorted({buffer for buffer in read if buffer is not None})
        found.update(pairwise(known))
    return found


@lru_cache(maxsize=256)
def _tensors(source: Source) -> dict[str, str]:
    """The buffer of each tensor's name: as it is taken, and as functions are given it."""
    taken = dict(_TAKEN.findall(source.shadow))
    given = {f.plain: _parameters(source, f) for f in source.functions}
    for call in source.calls:
        for name, argument in zip(given.get(call.name, ()), call.arguments, strict=False):
            buffer = taken.get(root_name(argument))
            if buffer is not None:
                taken.setdefault(name, buffer)
    return taken


def _parameters(source: Source, function: Function) -> list[str]:
    declarator = function.node.child_by_field_name("declarator")
    found = []
    for node in walk(declarator) if declarator is not None else ():
        if node.type == "parameter_declaration":
            name = node.child_by_field_name("declarator")
            found.append(source.code(name).strip("&* ") if name is not None else "")
    return found


def _grouped(order: list[str], pairs: Counter[tuple[str, str]]) -> dict[str, int]:
    """A group, 0 or 1, for each buffer: fewest pairs within one, then fewest shifts."""

    def cost(groups: Sequence[int]) -> tuple[int, int]:
        of = dict(zip(order, groups, strict=True))
        together = sum(n for (a, b), n in pairs.items() if of[a] == of[b])
        return together, sum(a != b for a, b in pairwise(groups))

    ways = [(0, *rest) for rest in product((0, 1), repeat=len(order) - 1)]
    best = min(ways, key=cost)
    return dict(zip(order, best, strict=True))


def part_operands_with_room(
    host: Mapping[str, Source], kernel: Mapping[str, Source], parameters: Mapping[str, object]
) -> Iterator[Mapping[str, Match]]:
    """`part_operands`, where the host leaves the bytes for it free of the unified buffer."""
    for path, source in kernel.items():
        for match in part_operands(source, parameters):
            shifts = 1 + len(match.others)
            room = less_memory(host, 2 * SHIFT_BYTES * ((shifts + 1) // 2))
            if room:
                yield {path: match, **room}


def less_memory(host: Mapping[str, Source], size: int) -> dict[str, Match]:
    """The host asks for the size of the unified buffer and takes some bytes off."""
    found: dict[str, Match] = {}
    for path, source in host.items():
        edits = []
        for method in source.methods:
            if method.name != "GetCoreMemSize" or method.statement is None:
                continue
            if len(method.arguments) == 2 and re.search(r"\bUB\b", method.arguments[0]):
                edits.append(after(source, method.statement, f"{method.arguments[1]} -= {size};"))
        if edits:
            found[path] = Match(edits[0].start, tuple(edits))
    return found
