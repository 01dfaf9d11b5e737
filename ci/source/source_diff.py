"""Unified diffs of source texts, as git writes and applies them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping


def git_diff(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Unified diff between two sets of texts by path; '' when nothing differs.

    A path that one side lacks counts as empty there. `git apply` takes the result.
    """
    parts: list[str] = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path, ""), after.get(path, "")
        if old == new:
            continue
        parts.append(f"diff --git a/{path} b/{path}\n")
        for line in difflib.unified_diff(lines_of(old), lines_of(new), f"a/{path}", f"b/{path}"):
            parts.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(parts)


def lines_of(text: str) -> list[str]:
    """The lines with their ends, as git and compilers count them: only a line feed ends one."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def merged(base: str, ours: str, theirs: str) -> str | None:
    """`ours` with what `theirs` changed of `base`, by lines.

    None when the two change lines that touch. What both change alike is changed once.
    """
    lines = lines_of(base)
    parts: list[str] = []
    last, done = -1, 0
    for first, end, new in sorted(
        {*_edits(lines, lines_of(ours)), *_edits(lines, lines_of(theirs))}
    ):
        if first <= last:
            return None
        parts += [*lines[done:first], *new]
        last = done = end
    return "".join((*parts, *lines[done:]))


def changes(before: str, after: str) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """(old lines, new lines) of each stretch that was changed, in order, wherever it stands."""
    old = lines_of(before)
    return tuple((tuple(old[a:b]), new) for a, b, new in _edits(old, lines_of(after)))


def _edits(before: list[str], after: list[str]) -> list[tuple[int, int, tuple[str, ...]]]:
    """(first line, end, new lines) of each stretch that was changed."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    codes = matcher.get_opcodes()
    return [(a, b, tuple(after[c:d])) for tag, a, b, c, d in codes if tag != "equal"]
