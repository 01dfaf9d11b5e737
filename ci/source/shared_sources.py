"""Finds the sources that an operator shares with others and that decide its time.

A family of operators keeps its tiling in one unit and its pipeline in one header. What lies in the
shared folders of the repository and moves data, or cuts it, is the operator's to change as much as
its own files; whoever judges the change must judge it on everybody who takes that file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from ci.model import layout
from ci.model.regular_file import file_text
from ci.source.definition import tiling_functions
from ci.source.include_lookup import file_named
from ci.source.readable_files import within

_MOVES = re.compile(r"\b(?:TPipe|TQue|TBuf|DataCopy\w*)\b")
_CUTS = re.compile(r"\bSetBlockDim\s*\(")
_MOST = 80
"""Files that an operator may draw from the shared folders; real ones take a dozen."""


def shared_sources(
    root: Path,
    top: Path,
    sources: Mapping[str, str],
    folders: Iterable[Path],
    units: Iterable[Path],
) -> dict[str, str]:
    """Shared sources by the name that the operator gives them: paths from the repository's top.

    A name is the side's folder and that path, `op_kernel/common/inc/pipeline.h`. `sources` are the
    operator's own ones, `folders` those that its build includes from, `units` the host sources
    outside its folder that its build lists.
    """
    outside = tuple(f for f in folders if not (f.is_relative_to(root) or root.is_relative_to(f)))
    # What cuts the data itself shares helpers at most.
    cuts = any(p.startswith(layout.HOST + "/") and tiling_functions(t) for p, t in sources.items())
    found: dict[str, str] = {}
    for side in (layout.KERNEL,) if cuts else (layout.KERNEL, layout.HOST):
        own = {root / p: t for p, t in sources.items() if p.startswith(side + "/")}
        if side == layout.HOST:
            own |= {p: t for p in units if not _another_s(p) and tiling_functions(t := _text(p))}
        reached = layout.closure(own, lambda place, name: _found(place, name, outside), _MOST)
        texts = {p: t for p, t in (own | reached).items() if not p.is_relative_to(root)}
        deciding = {p for p, t in texts.items() if _decides(p, t, side, texts)}
        for path in sorted(_leading_to(deciding, texts, outside)):
            if within(path, top):
                name = path.relative_to(top).as_posix()
                found[f"{side}/{name}"] = name
    return found


def _another_s(path: Path) -> bool:
    """Whether the file is in the folder of another operator."""
    return any((p / layout.HOST).is_dir() and (p / layout.KERNEL).is_dir() for p in path.parents)


def _decides(path: Path, text: str, side: str, texts: Mapping[Path, str]) -> bool:
    if side == layout.KERNEL:
        return _MOVES.search(text) is not None
    units = [p for p in texts if p.suffix in layout.UNITS]
    return (
        path in units
        or _CUTS.search(text) is not None
        or any(path.stem == unit.stem for unit in units)
    )


def _leading_to(
    deciding: set[Path], texts: Mapping[Path, str], folders: tuple[Path, ...]
) -> set[Path]:
    """These and what includes them: a file that is not laid again would take them as they were."""
    found = set(deciding)
    while True:
        more = {
            path
            for path, text in texts.items()
            if path not in found
            and any(p in found for n in layout.included(text) for p, _ in _found(path, n, folders))
        }
        if not more:
            return found
        found |= more


def _found(place: Path, spelled: str, folders: tuple[Path, ...]) -> Iterator[tuple[Path, str]]:
    """What an include means, if it is in one of the shared folders."""
    if PurePosixPath(spelled).suffix not in layout.SOURCES:
        return
    met = file_named(spelled, (place.parent, *folders))
    path = None if met is None else Path(os.path.normpath(met))
    if path is not None and path.is_file() and not {*path.parents}.isdisjoint(folders):
        yield path, _text(path)


def _text(path: Path) -> str:
    return file_text(path)
