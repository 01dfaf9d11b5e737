"""Unified diff text from a forge that only gives it file by file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_NULL: Final = "/dev/null"
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


@dataclass(frozen=True)
class FileDiff:
    """One file of a diff; `hunks` is empty for a binary or an unchanged renamed file."""

    old: str
    new: str
    hunks: str
    added: bool = False
    deleted: bool = False
    old_mode: str = ""
    new_mode: str = ""


def unified(files: list[FileDiff]) -> str:
    """Return the files as `git diff` prints them, as far as programs read it."""
    return "".join(map(_one, files))


def _one(made: FileDiff) -> str:
    old, new = quoted(f"a/{made.old}"), quoted(f"b/{made.new}")
    lines = [f"diff --git {old} {new}"]
    if made.added:
        lines.append(f"new file mode {_mode(made.new_mode)}")
    elif made.deleted:
        lines.append(f"deleted file mode {_mode(made.old_mode)}")
    elif made.old_mode and made.new_mode and made.old_mode != made.new_mode:
        lines += [f"old mode {_mode(made.old_mode)}", f"new mode {_mode(made.new_mode)}"]
    if made.old != made.new:
        lines += [f"rename from {quoted(made.old)}", f"rename to {quoted(made.new)}"]
    if made.hunks:
        lines.append(f"--- {_NULL if made.added else old}")
        lines.append(f"+++ {_NULL if made.deleted else new}")
        lines.append(made.hunks.removesuffix("\n"))
    return "\n".join(lines) + "\n"


def quoted(path: str) -> str:
    """Return the path as git writes it: a path with a line break or quote must not look like
    diff text."""
    if not any(c in _ESCAPES or ord(c) < 32 or ord(c) == 127 for c in path):
        return path
    escaped = "".join(
        _ESCAPES.get(c) or (f"\\{ord(c):03o}" if ord(c) < 32 or ord(c) == 127 else c) for c in path
    )
    return f'"{escaped}"'


def _mode(given: str) -> str:
    """A mode is six octal digits; anything else is no mode."""
    return given if len(given) == 6 and set(given) <= set("01234567") else "100644"
