"""The way from a change to the operators it touches: file rules, renames, and the include graph.

A header that several operators share concerns each of them. Includes are followed by name, as the
operators' builds find them: next to the including file first, then by the longest path ending that
matches. Files are read as text; nothing is compiled or run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ci.model.layout import HEADERS, KERNEL, IncludeGraph, below, side
from ci.session.placing import folder_of
from rules.triggers import TriggerRules


@dataclass(frozen=True)
class Touched:
    """An operator that a change concerns."""

    folder: str
    """What names it: its folder, from the repository's top, or a path of its name in that."""
    kernel: bool
    tiling: bool
    because: tuple[str, ...]
    """The changed paths that concern it, as the change names them."""


def touched_operators(
    changed: Sequence[str],
    operators: Mapping[str, tuple[str, ...]],
    files: Mapping[str, str],
    rules: TriggerRules,
) -> tuple[Touched, ...]:
    """The operators that `changed` paths concern, by folder.

    `operators`: sources by what names the operator; `files`: text of every header and source of the
    repository as changed. A deleted or renamed-away header counts for the operators that still
    ask for its name.
    """
    kinds = {path: rules.kind(path) for path in changed}
    own = {source for sources in operators.values() for source in sources}
    for path in own & kinds.keys():
        if not side(path) and not rules.passes_over(path):
            usual = "kernel" if "__global__" in files.get(path, "") else "tiling"
            kinds[path] = kinds[path] or usual
    relevant = {path: kind for path, kind in kinds.items() if kind}
    graph = IncludeGraph({**dict.fromkeys(relevant, ""), **files})
    found = []
    for folder in sorted(operators):
        sources = operators[folder]
        reached, around = graph.reachable(sources), folder_of(folder, sources)
        hits = tuple(
            path
            for path in relevant
            if path in reached
            or (
                relevant[path] in ("kernel", "tiling")
                and path not in own
                and around
                and path.startswith(below(around))
                and not path.endswith(HEADERS)
            )
        )
        if not hits:
            continue
        kernel = graph.reachable(
            s for s in sources if f"/{KERNEL}/" in s or "__global__" in files.get(s, "")
        )
        found.append(
            Touched(
                folder=folder,
                kernel=any(p in kernel or relevant[p] == "kernel" for p in hits),
                tiling=any(p not in kernel and relevant[p] != "kernel" for p in hits),
                because=hits,
            )
        )
    return tuple(found)
