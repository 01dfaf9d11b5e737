"""Lays an operator's sources out for the compiler as they lie in their repository.

Sources of some operators include headers of a neighbour by a relative path. Only such files are
copied next to them, never anything outside the repository: the compiler sees no more than that.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from ci.model import layout
from ci.model.operator import Operator
from ci.model.regular_file import file_text
from ci.source.readable_files import within

MOST_NEIGHBOURS = 500
"""Files that an operator may draw from its neighbours; real ones take a dozen."""


def base_of(operator: Operator) -> Path:
    """The folder whose inside relative includes may reach: the repository, or four levels up."""
    if operator.repository is not None:
        return _resolved(operator.repository)
    parents = _resolved(operator.root).parents
    return parents[min(2, len(parents) - 1)]


@lru_cache(maxsize=256)
def _resolved(folder: Path) -> Path:
    return folder.resolve()


def place_of(operator: Operator) -> str:
    """The operator's folder relative to `base_of`."""
    root = _resolved(operator.root)
    base = base_of(operator)
    return root.relative_to(base).as_posix() if root.is_relative_to(base) else root.name


def neighbours(operator: Operator, texts: Mapping[str, str]) -> dict[str, str]:
    """Texts of the files outside the operator that its sources include by a relative path.

    Keys are paths relative to `base_of`. Follows what those files include in turn.
    """
    base = base_of(operator)
    root = _resolved(operator.root)

    def find(source: Path, spelled: str) -> Iterator[tuple[Path, str]]:
        # Of the operator's own sources only includes with `..` can leave its folder. A neighbour's
        # that was met as an installed one is spelled as if it lay there too.
        if ".." not in spelled and source in starts and source.is_relative_to(root):
            return
        # Not resolve(): a link must not lead elsewhere than its name says.
        path = Path(os.path.normpath(source.parent / spelled))
        held = _held_by(path, root, base)
        if held in starts or _in_a_side(held, root) or not within(held, base):
            return
        if path.is_relative_to(base) and path.suffix in layout.SOURCES and held.is_file():
            yield path, file_text(held)

    starts = {_place(operator, name): text for name, text in texts.items()}
    found = layout.closure(starts, find, MOST_NEIGHBOURS)
    return {path.relative_to(base).as_posix(): text for path, text in found.items()}


def shared_host_folders(operator: Operator) -> set[Path]:
    """Folders that the host sources outside the operator's own are compiled from: theirs, and those
    of what they include by a path from their own place."""
    base = base_of(operator)

    def find(source: Path, spelled: str) -> Iterator[tuple[Path, str]]:
        path = Path(os.path.normpath(source.parent / spelled))
        if path.suffix in layout.SOURCES and within(path, base) and path.is_file():
            yield path, file_text(path)

    starts = {path: file_text(path) for path in operator.shared_host_sources}
    return {path.parent for path in (*starts, *layout.closure(starts, find, MOST_NEIGHBOURS))}


def _in_a_side(path: Path, root: Path) -> bool:
    """Whether a file is in the operator's op_host or op_kernel, whose sources it names itself."""
    inside = path.is_relative_to(root) and path.relative_to(root).parts[:1]
    return inside in ((layout.HOST,), (layout.KERNEL,))


def _held_by(path: Path, root: Path, base: Path) -> Path:
    """The file that `path` means: itself, or a kernel source of the operator next to `root`, or one
    that all kernels of the repository share.

    Installed, kernels lie side by side as `<operator>/<file>`, without their op_kernel folder, and
    next to them `inc` with the repository's common/inc/op_kernel; some include by those paths.
    """
    if path.is_file():
        return path
    for top in (root, root.parent):
        if path.is_relative_to(top) and len(parts := path.relative_to(top).parts) > 1:
            held = root.parent.joinpath(parts[0], layout.KERNEL, *parts[1:])
            if held.is_file():
                return held
    common = base / "common" / "inc" / layout.KERNEL / path.name
    return common if path.parent.name == "inc" and common.is_file() else path


def lay(folder: Path, texts: Mapping[str, str]) -> None:
    """Write texts below a folder; the paths were checked by the guard or are our own."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")


def lay_operator(folder: Path, operator: Operator, texts: Mapping[str, str]) -> Path:
    """Lay the operator's texts and its neighbours' below `folder`; answers the operator's place."""
    base, place = base_of(operator), folder / place_of(operator)
    around = neighbours(operator, texts)
    lay(folder, around)
    _as_old(folder, {name: base / name for name in around})
    shared = {n: place_below(operator, n) for n in texts if n in operator.shared_paths}
    lay(folder, {path: texts[name] for name, path in shared.items()})
    lay(place, {name: text for name, text in texts.items() if name not in shared})
    _as_old(place, {name: operator.root / name for name in texts if name not in shared})
    return place


def _as_old(folder: Path, originals: Mapping[str, Path]) -> None:
    """Give copies the age of their originals: where both are met, by two include folders, the
    compiler takes them for one file under `#pragma once` if age and text agree."""
    for name, path in originals.items():
        if path.is_file():
            age = path.stat().st_mtime_ns
            os.utime(folder / name, ns=(age, age))


def include_arguments(
    operator: Operator, laid: Path | None, before: Collection[Path] = ()
) -> list[str]:
    """Compiler arguments for the shared folders: as laid below `laid`, then at their own places.

    Those of the tree that are in `before` are met before what comes later on the command line.
    """
    base = base_of(operator)

    def both(folders: Iterable[Path]) -> list[Path]:
        known = list(folders)
        # A folder around the operator is one that its own headers are included from.
        around = [
            f
            for f in known
            if f.is_relative_to(base)
            and (operator.shared_sources or _resolved(operator.root).is_relative_to(f))
        ]
        return [*(laid / f.relative_to(base) for f in around if laid), *known]

    # What only the tree explains comes after everything else: it is in nobody's way.
    return [
        *(f"-I{folder}" for folder in both(operator.include_folders)),
        *(f"-I{folder}" for folder in both(f for f in operator.tree_folders if f in before)),
        *(
            f"-idirafter{folder}"
            for folder in both(f for f in operator.tree_folders if f not in before)
        ),
    ]


def place_below(operator: Operator, name: str) -> str:
    """Path of a source from `base_of`, below which it is laid."""
    return _place(operator, name).relative_to(base_of(operator)).as_posix()


def _place(operator: Operator, name: str) -> Path:
    """Where a source belongs, links resolved up to the operator's or the repository's folder."""
    shared = operator.shared_paths.get(name)
    if shared is None:
        return _resolved(operator.root) / name
    return _resolved(operator.repository or operator.root) / shared
