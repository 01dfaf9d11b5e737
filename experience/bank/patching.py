"""Take a unified diff back from texts that may have moved on: by content, not by line number."""

from __future__ import annotations

from collections.abc import Mapping

from unidiff.patch import Hunk

from ci.model.errors import InputError
from ci.model.patch_set import patch_set


class Misfit(Exception):
    """A diff does not fit the texts; the message says where."""


def undo(diff: str, texts: Mapping[str, str]) -> dict[str, str]:
    """All texts with the diff taken back: what it added goes, what it removed returns.

    Each hunk is found by its lines, as near as possible to where it says. Raises `Misfit`.
    """
    return _applied(diff, texts, back=True)


def redo(diff: str, texts: Mapping[str, str]) -> dict[str, str]:
    """All texts with the diff made, found in the same way. Raises `Misfit`."""
    return _applied(diff, texts, back=False)


def _applied(diff: str, texts: Mapping[str, str], *, back: bool) -> dict[str, str]:
    try:
        files = patch_set(diff)
    except InputError as problem:
        raise Misfit(f"the diff cannot be read: {problem}") from problem
    if not files:
        raise Misfit("the diff is empty")
    changed = dict(texts)
    for file in files:
        path = file.path
        if path not in changed:
            raise Misfit(f"there is no {path}")
        lines = changed[path].split("\n")
        for hunk in reversed(list(file)):
            lines = _changed(lines, hunk, path, back)
        changed[path] = "\n".join(lines)
    return changed


def _changed(lines: list[str], hunk: Hunk, path: str, back: bool) -> list[str]:
    after = [line.value.rstrip("\n") for line in hunk if line.is_added or line.is_context]
    before = [line.value.rstrip("\n") for line in hunk if line.is_removed or line.is_context]
    said = hunk.target_start if back else hunk.source_start
    if not back:
        after, before = before, after
    lead, tail = _context(hunk)
    for skip in range(max(lead, tail) + 1):  # context may have changed: give it up line by line
        head, foot = min(skip, lead), min(skip, tail)
        wanted = after[head : len(after) - foot]
        places = [
            i for i in range(len(lines) - len(wanted) + 1) if lines[i : i + len(wanted)] == wanted
        ]
        if wanted and places:
            start = min(places, key=lambda i: abs(i - (said - 1 + head)))
            return [
                *lines[:start],
                *before[head : len(before) - foot],
                *lines[start + len(wanted) :],
            ]
    raise Misfit(f"a hunk has no place in {path}")


def _context(hunk: Hunk) -> tuple[int, int]:
    """Lines of context before the first and after the last change."""
    kinds = [line.is_context for line in hunk]
    lead = kinds.index(False)
    return lead, kinds[::-1].index(False)
