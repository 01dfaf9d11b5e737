"""Walks through a folder that somebody else may have made, however deep it is.

`os.walk` and `rglob` call themselves once for each level, and end in an error of Python's at some
hundred.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

MOST_DEPTH: Final = 100
"""Levels of folders that are looked into: no source lies deeper, and no path becomes too long."""


def walk(top: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Each folder from `top` down, with the names of folders and of all else in it, as `os.walk`.

    The caller may sort the folders' names or take some away. Links are not followed. What cannot be
    listed, is deeper than `MOST_DEPTH`, or has a name that is no UTF-8 is left out.
    """
    pending = [(top, 0)]
    while pending:
        folder, depth = pending.pop()
        try:
            with os.scandir(folder) as listed:
                entries = [entry for entry in listed if is_text(entry.name)]
        except OSError:
            continue
        folders = {entry.name: entry for entry in entries if _is_folder(entry)}
        below = [*folders]
        yield folder, below, [entry.name for entry in entries if entry.name not in folders]
        if depth < MOST_DEPTH:
            further = (name for name in reversed(below) if not folders[name].is_symlink())
            pending += [(folder / name, depth + 1) for name in further]


def is_text(name: str) -> bool:
    """Whether a name of the disk is UTF-8: no report, message or JSON can hold another."""
    return name.isprintable() or name.encode(errors="ignore").decode() == name


def nameless(folder: Path) -> list[Path]:
    """Return what lies in a folder under names that are no UTF-8: what `walk` leaves out."""
    try:
        return [one for one in folder.iterdir() if not is_text(one.name)]
    except OSError:
        return []


def legible(path: Path) -> Path:
    """`path` in letters that any report holds: what is no UTF-8 is written as \\xNN."""
    return Path(os.fsencode(path).decode(errors="backslashreplace"))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads round in circles
        return False


def files_below(top: Path, ending: str = "") -> list[Path]:
    """Return all that is no folder below `top` and ends like this, in order; as `walk`."""
    found = (folder / name for folder, _, names in walk(top) for name in names)
    return sorted(path for path in found if path.name.endswith(ending))
