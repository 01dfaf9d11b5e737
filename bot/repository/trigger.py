"""The way from a change to the operators it touches: file rules, renames, and the include graph.

A header that several operators share concerns each of them. Includes are followed by name, as the
operators' builds find them: next to the including file first, then by the longest path ending that
matches. Files are read as text; nothing is compiled or run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from ci.model.layout import HEADERS, KERNEL, IncludeGraph
from rules.triggers import TriggerRules


@dataclass(frozen=True)
class Touched:
    """An operator that a change concerns."""

    folder: str
    """The folder, from the repository's top."""
    kernel: bool
    tiling: bool
    because: tuple[str, ...]
    """The changed paths that concern it, as the change names them."""


def changed_paths(diff: str) -> tuple[str, ...]:
    """Paths that a unified diff changes, old and new names of renames included, in its order.

    Reads `diff --git` lines too: renames without changed lines and binary files have no hunks.
    """
    found: dict[str, None] = {}
    try:
        for file in PatchSet(diff):
            for name in (file.source_file, file.target_file):
                _note(found, name)
    except UnidiffParseError:
        # Hunks that do not count right are still a change of the files whose headers are read.
        pass
    for line in diff.splitlines():
        for opening in ("rename from ", "rename to ", "--- a/", "+++ b/"):
            if line.startswith(opening):
                _note(found, line[len(opening) :])
        git = re.match(r"diff --git a/(\S+) b/(\S+)$", line)
        if git:
            _note(found, git.group(1))
            _note(found, git.group(2))
    return tuple(found)


def _note(found: dict[str, None], name: str | None) -> None:
    if not name:
        return
    path = name.split("\t")[0].strip().removeprefix("a/").removeprefix("b/")
    if path and path != "/dev/null" and path != "dev/null":
        found[path] = None


def touched_operators(
    changed: Sequence[str],
    operators: Mapping[str, Sequence[str]],
    files: Mapping[str, str],
    rules: TriggerRules,
) -> tuple[Touched, ...]:
    """The operators that `changed` paths concern, by folder.

    `operators`: sources by operator folder; `files`: text of every header and source of the
    repository as changed. A deleted or renamed-away header counts for the operators that still
    ask for its name.
    """
    kinds = {path: rules.kind(path) for path in changed}
    relevant = {path: kind for path, kind in kinds.items() if kind}
    graph = IncludeGraph({**dict.fromkeys(relevant, ""), **files})
    found = []
    for folder in sorted(operators):
        sources = [s if s.startswith(folder + "/") else f"{folder}/{s}" for s in operators[folder]]
        reached = graph.reachable(sources)
        hits = tuple(
            path
            for path in relevant
            if path in reached
            or (
                relevant[path] in ("kernel", "tiling")
                and path.startswith(folder + "/")
                and not path.endswith(HEADERS)
            )
        )
        if not hits:
            continue
        kernel = graph.reachable(s for s in sources if f"/{KERNEL}/" in s)
        found.append(
            Touched(
                folder=folder,
                kernel=any(p in kernel or relevant[p] == "kernel" for p in hits),
                tiling=any(p not in kernel and relevant[p] != "kernel" for p in hits),
                because=hits,
            )
        )
    return tuple(found)
