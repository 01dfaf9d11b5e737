"""The folder around an operator that is its own, and what in it shows how the operator is called.

Operator projects keep the programs and scripts that call an operator next to its folder, not in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ci.model import layout
from ci.model.errors import InputError
from ci.model.folder_walk import walk
from ci.model.operator import Operator
from ci.model.regular_file import file_text
from ci.source.placed import operator_folders

_BUILT: Final = layout.SKIPPED - {"tests", "test"}
_MOST_LOOKED_AT: Final = 2000
"""Files of a project by name; it is for the few around one operator."""
_MOST_READ: Final = 60
_MOST_BYTES: Final = 200_000


def own_folder(operator: Operator) -> Path:
    """The outermost folder around an operator, up to its repository, in which there is no other.

    The operator's own where nothing says where its repository ends.
    """
    folder = operator.root.resolve()
    top = operator.repository.resolve() if operator.repository else folder
    while folder != top:
        beside = [p for p in folder.parent.iterdir() if p != folder and not p.is_symlink()]
        if any(_has_operators(p) for p in beside if p.is_dir() and p.name not in _BUILT):
            break
        folder = folder.parent
    return folder


def _has_operators(folder: Path) -> bool:
    try:
        return bool(operator_folders(folder))
    except InputError:  # too large to be part of one operator's project
        return True


def own_calls(operator: Operator) -> re.Pattern[str]:
    """What matches a call of the operator by its own name, in any letter case, or its class in a
    graph."""
    name = operator.op_type
    return re.compile(rf"\baclnn{name}(?:GetWorkspaceSize)?\s*\(|\bop::{name}\b", re.IGNORECASE)


def texts_around(operator: Operator, ending: str) -> Iterator[tuple[Path, str]]:
    """Path and text of each file with this ending in the operator's own folder, in order, except
    for what the operator consists of, what is built, and what leads out."""
    top = own_folder(operator)
    own = {operator.path(source).resolve() for source in operator.sources}
    seen = read = 0
    for folder, below, names in walk(top):
        sides = (layout.HOST, layout.KERNEL) if folder == operator.root.resolve() else ()
        hidden = [name for name in below if name.startswith(".")]
        below[:] = sorted({*below} - {*hidden, *sides, *_BUILT})
        for name in sorted(names):
            seen += 1
            if seen > _MOST_LOOKED_AT or read == _MOST_READ:
                return
            path = folder / name
            if not name.endswith(ending) or name.startswith(".") or path in own:
                continue
            read += 1
            try:
                yield path, file_text(path, top, most_bytes=_MOST_BYTES)
            except (InputError, OSError):
                continue
