"""A place in a source where a motif applies, the edits that apply it, and the place's name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from tree_sitter import Node

from ci.source.cpp_source import Edit, Source, parse

_NOT_SPACE = re.compile(r"\S")


@dataclass(frozen=True)
class Match:
    """One application of a rewrite: where it is and what it changes."""

    start: int
    edits: tuple[Edit, ...]
    note: str = ""
    """What is particular to this place, for the rationale: a tensor, a factor."""
    others: tuple[int, ...] = ()
    """Where its further parts start, when several matches can have the same start."""

    @property
    def starts(self) -> tuple[int, ...]:
        """Where its parts start, the main one first."""
        return (self.start, *self.others)

    def overlaps(self, other: Match) -> bool:
        """Whether the two touch common text."""
        return any(
            a.start < b.end and b.start < a.end or (a.start == b.start)
            for a in self.edits
            for b in other.edits
        )


def disjoint(matches: Iterable[Match]) -> list[Match]:
    """The matches in source order without those that overlap one taken before."""
    taken: list[Match] = []
    for match in sorted(matches, key=lambda m: m.start):
        if not any(match.overlaps(other) for other in taken):
            taken.append(match)
    return taken


def apply_matches(source: Source, matches: Iterable[Match]) -> str | None:
    """The changed text; None when nothing changes or the parser finds new faults in it."""
    chosen = disjoint(matches)
    edits = tuple(dict.fromkeys(e for match in chosen for e in match.edits))
    text = source.apply(edits)
    return text if text != source.text and _sound(source.text, edits) else None


@lru_cache(maxsize=1 << 15)
def _sound(text: str, edits: tuple[Edit, ...]) -> bool:
    """Whether the parser finds no new faults in the changed text.

    Remembered by the edits: every step of a search makes the same ones again, and parsing took
    most of its time.
    """
    before = parse(text)
    return Source(before.apply(edits)).errors <= before.errors


class Place(NamedTuple):
    """A node of a source: the function around it, what it is, and which of those it is there."""

    function: str
    node: str
    ordinal: int


def place_at(source: Source, index: int) -> Place:
    """The place of the node that starts at an index, or of the next one after it."""
    starts, places = _places(source.text)
    found = _NOT_SPACE.search(source.shadow, index)  # past what the shadow blanks: `AscendC::`
    return places[max(0, bisect_right(starts, found.start() if found else index) - 1)]


@lru_cache(maxsize=512)
def _places(text: str) -> tuple[list[int], list[Place]]:
    """Every index at which a node starts, with its place."""
    source = parse(text)
    names = {f.node.start_byte: f.name for f in source.functions}
    starts: list[int] = [0]
    places = [Place("", source.root.type, 0)]
    seen: Counter[tuple[str, str]] = Counter()
    stack: list[tuple[Node, str]] = [(source.root, "")]
    while stack:
        node, function = stack.pop()
        if node.type == "function_definition":
            function = names.get(node.start_byte, function)
        if node.start_byte > starts[-1]:
            kind = _called(source, node) or node.type
            starts.append(node.start_byte)
            places.append(Place(function, kind, seen[function, kind]))
            seen[function, kind] += 1
        stack.extend((child, function) for child in reversed(node.children))
    return starts, places


def _called(source: Source, node: Node) -> str:
    """The name called by a call that starts where the node starts; '' when none does."""
    first: Node | None = node
    while first is not None and first.start_byte == node.start_byte:
        if first.type == "call_expression":
            called = first.child_by_field_name("function")
            field = called.child_by_field_name("field") if called is not None else None
            name = field or called
            return source.code(name).partition("<")[0] if name is not None else ""
        first = first.children[0] if first.children else None
    return ""
