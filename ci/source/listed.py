"""Which sources of a listing of files belong to which operator; nothing here looks at a disk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import PurePosixPath

from ci.model import layout
from ci.source.launch_places import launched_in
from ci.source.placed import (
    MARKS,
    MOST_BYTES,
    entries_of,
    is_unit,
    placed,
    plain,
    registered,
    types_in,
)

Read = Callable[[list[str]], Mapping[str, str]]
"""Gives the texts of files by path, as far as it has them."""


def operators_in(paths: Collection[str], read: Read) -> dict[str, tuple[str, ...]]:
    """Sources by operator, in order, among the files of a repository, paths from its top.

    An operator goes by its folder, one of several that share it by a path of its kernel's name in
    that: what `load_operator` takes.
    """
    found: dict[str, tuple[str, ...]] = {}
    whole = layout.operators(paths)
    taken = {path for sources in whole.values() for path in sources}
    units = [path for path in taken if is_unit(path) and layout.side(path) == layout.HOST]
    texts = read(units)
    for folder, sources in whole.items():
        mine = {path: texts[path] for path in sources if path in texts}
        many = len(registered(mine.values())) > 1
        found |= _each(folder, read([*sources]), sources) if many else {folder: sources}
    left = [p for p in paths if p.endswith(layout.SOURCES) and p not in taken and _visible(p)]
    left = [p for p in left if whole.keys().isdisjoint(map(str, PurePosixPath(p).parents))]
    found |= _apart(left, read)
    launched = launched_in([path for path in paths if _visible(path)], read)
    found |= {folder: launched[folder] for folder in launched.keys() - whole.keys()}
    return {place: tuple(sorted(found[place])) for place in sorted(found)}


def _apart(left: Collection[str], read: Read) -> dict[str, tuple[str, ...]]:
    """The same of sources in folders of other names than op_host and op_kernel."""
    texts = {p: t for p, t in read([*filter(is_unit, left)]).items() if len(t) <= MOST_BYTES}
    marked = {path: t for path, t in texts.items() if any(mark in t for mark in MARKS)}
    roots = [one.folder or layout.TOP for one in placed(marked) if one.kernel]
    inner: dict[str, list[str]] = {root: [] for root in roots}
    for path in left:
        around = (str(above) for above in PurePosixPath(path).parents)
        if nearest := next((above for above in around if above in inner), ""):
            inner[nearest].append(path)
    found: dict[str, tuple[str, ...]] = {}
    for root, sources in inner.items():
        many = roots.count(root) > 1
        found |= _each(root, read(sources), sources) if many else {root: tuple(sources)}
    return found


def _each(
    folder: str, texts: Mapping[str, str], sources: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """The sources of each operator of a folder that declares several: its kernel, the host sources
    that work for it or for none of them by name, and what these include.

    One that has no kernel of its name is left out.
    """
    entries = entries_of({p: t for p, t in texts.items() if layout.side(p) != layout.HOST})
    kernels = {path for path, _ in entries}
    host = {p: t for p, t in texts.items() if p not in kernels and layout.side(p) != layout.KERNEL}
    known = {*types_in(text for path, text in host.items() if is_unit(path))}
    if len(known) < 2:
        return {folder: tuple(sources)}
    names = {path: registered([text]) for path, text in host.items() if is_unit(path)}
    graph = layout.IncludeGraph(texts)
    found = {}
    for op_type in sorted(known):
        own = [entry for entry in entries if plain(entry[1]) == plain(op_type)]
        work = [p for p, some in names.items() if op_type in some or known.isdisjoint(some)]
        if own:
            made_of = graph.reachable([*work, *(path for path, _ in own)])
            found[layout.below(folder, own[0][1])] = tuple(p for p in sources if p in made_of)
    return found


def _visible(path: str) -> bool:
    folders = path.split("/")[:-1]
    return layout.SKIPPED.isdisjoint(folders) and not any(f.startswith(".") for f in folders)
