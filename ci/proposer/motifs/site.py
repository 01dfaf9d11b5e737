"""A place in a source where a motif applies, and the edits that apply it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ci.source.cpp_source import Edit, Source, parse


@dataclass(frozen=True)
class Site:
    """One application of a rewrite: where it is and what it changes."""

    start: int
    edits: tuple[Edit, ...]
    note: str = ""
    """What is particular to this place, for the rationale: a tensor, a factor."""

    def overlaps(self, other: Site) -> bool:
        """Whether the two touch common text."""
        return any(
            a.start < b.end and b.start < a.end or (a.start == b.start)
            for a in self.edits
            for b in other.edits
        )


def disjoint(sites: Iterable[Site]) -> list[Site]:
    """The sites in source order without those that overlap one taken before."""
    taken: list[Site] = []
    for site in sorted(sites, key=lambda s: s.start):
        if not any(site.overlaps(other) for other in taken):
            taken.append(site)
    return taken


def apply_sites(source: Source, sites: Iterable[Site]) -> str | None:
    """The changed text; None when nothing changes or the parser finds new faults in it."""
    chosen = disjoint(sites)
    edits = list(dict.fromkeys(e for site in chosen for e in site.edits))
    text = source.apply(edits)
    if text == source.text or parse(text).errors > source.errors:
        return None
    return text
