"""Which operators a folder declares, and which of its sources make up each of them.

A forward operator and its gradient may share a folder, and a chip may have a definition of its own
in a folder of its own next to that of the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ci.model import layout
from ci.model.regular_file import file_text
from ci.source.build.chips import ChipFolders
from ci.source.build.evaluation import Tree
from ci.source.cpp_text import without_comments
from ci.source.definition import Definition, find_definitions
from ci.source.placed import REGISTERED, entries_of, is_unit, plain, registered
from rules.architectures import architectures

_TILES = re.compile(r"\.\s*Tiling\s*\(")
_ON_CONTEXT = r"\b(\w+)\s*\(\s*(?:gert::)?TilingContext\s*\*[^(){};]*\)\s*"
_DECLARES = re.compile(_ON_CONTEXT + ";")
_DEFINES = re.compile(_ON_CONTEXT + r"\{")
_DEFINES_FREE = re.compile("(?<!:)" + _ON_CONTEXT + r"\{")
_CALLS = re.compile(r"\b(\w+)\s*\(\s*&?\w+\s*[,)]")


@dataclass(frozen=True)
class Declared:
    """A definition for the chip that we know, as far as there is one."""

    source: str
    definition: Definition
    for_other_chips: frozenset[str] = frozenset()
    """Sources that declare the same operator for other chips only."""


def names_our_chip(socs: Sequence[str]) -> bool:
    """Whether a definition names a chip family that we know, or names none at all."""
    known = [one.definition_word for one in architectures()]
    return not socs or any(word in soc.lower() for soc in socs for word in known)


def _work(text: str, op_type: str) -> set[str]:
    """What a host source registers for a type: its definition, its tiling, both or neither."""
    plain_text = without_comments(text)
    said = [m for m in REGISTERED.finditer(plain_text) if m.group(2) == op_type]
    found = {"definition"} if any(m.group(1) == "OP_ADD" for m in said) else set()
    chains = (plain_text[m.end() :].partition(";")[0] for m in said)
    tiled = any(map(_TILES.search, chains)) or (found and "SetTiling" in text)
    return found | ({"tiling"} if tiled else set())


def tiles(text: str, op_type: str) -> bool:
    """Whether a host source registers a tiling for a type."""
    return "tiling" in _work(text, op_type)


def sources_that_tile(tree: Tree, op_type: str, chips: ChipFolders) -> list[Path]:
    """Host sources of a repository that register a tiling for `op_type`, wherever they lie.

    The one library that a repository links has them for all its operators.
    """
    return [p for p, text in _units(tree, chips) if op_type in text and tiles(text, op_type)]


def sources_that_define(tree: Tree, texts: Sequence[str], chips: ChipFolders) -> list[Path]:
    """Host sources of a repository that define what the host side `texts` only declares and calls:
    functions on a tiling context. What several sources define is left out."""
    clean = "\n".join(map(without_comments, texts))
    defined = {*_DEFINES.findall(clean)}
    wanted = {*_DECLARES.findall(clean)}.intersection(_CALLS.findall(clean)) - defined
    places: dict[str, list[Path]] = {}
    for path, text in _units(tree, chips) if wanted else ():
        for name in wanted.intersection(_DEFINES_FREE.findall(without_comments(text))):
            places.setdefault(name, []).append(path)
    return [several[0] for several in places.values() if len(several) == 1]


def _units(tree: Tree, chips: ChipFolders) -> Iterator[tuple[Path, str]]:
    """The host sources of a repository that may be for our chip, with their texts."""
    units = (
        tree.top / path
        for path in tree.files
        if path.endswith(layout.UNITS)
        and layout.APART.isdisjoint(path.split("/"))
        and not chips.another_s(path)
    )
    return ((path, file_text(path)) for path in units)


def declared(host: Mapping[str, str], shared: str) -> dict[str, Declared]:
    """The operators by type; of several definitions of one that for our chip.

    `shared` is the text of headers that the sources include.
    """
    found: dict[str, list[Declared]] = {}
    for path, text in host.items():
        for one in find_definitions(text, shared) if is_unit(path) else ():
            found.setdefault(one.op_type, []).append(Declared(path, one))
    chosen = {}
    for op_type, several in found.items():
        best = min(several, key=lambda one: _rank(one.definition.socs))
        # A source with another operator in it is that one's, too.
        others = {
            one.source
            for one in several
            if _rank(one.definition.socs) > _rank(best.definition.socs) == 0
        }
        chosen[op_type] = Declared(best.source, best.definition, frozenset(others - {best.source}))
    return chosen


def _rank(socs: Sequence[str]) -> int:
    return (0 if socs else 1) if names_our_chip(socs) else 2


def host_of(
    op_type: str,
    known: Mapping[str, Declared],
    host: Mapping[str, str],
    named: Set[str],
    chips: ChipFolders,
) -> dict[str, str]:
    """Host sources of one of the operators: without those that work for another one or for another
    chip alone. A source that implements a header which the others include stays.

    `named` are sources that the build lists for our chip.
    """
    own = known[op_type]
    names = {path: registered([text]) if is_unit(path) else [] for path, text in host.items()}
    foreign = {path for path in host if path not in named and chips.another_s(path)}
    if not names_our_chip(own.definition.socs):
        foreign = set()
    here = {
        one
        for path, text in host.items()
        if op_type in names[path] and path not in foreign
        for one in _work(text, op_type)
    }

    def works(path: str) -> bool:
        if path in own.for_other_chips:
            return False
        if op_type in names[path]:
            return path not in foreign or here.isdisjoint(_work(host[path], op_type))
        return known.keys().isdisjoint(names[path])

    kept = {path: text for path, text in host.items() if works(path)}
    while True:
        included = {PurePosixPath(n).name for t in kept.values() for n in layout.included(t)}
        more = {
            path: text
            for path, text in host.items()
            if path not in kept
            and path not in own.for_other_chips
            and path not in foreign
            and PurePosixPath(path).stem + ".h" in included
        }
        if not more:
            break
        kept |= more
    if len(known) < 2:
        return kept
    reached = layout.IncludeGraph(host).reachable(p for p in kept if is_unit(p))
    return {path: text for path, text in host.items() if path in reached}


def kernel_of(
    op_type: str,
    known: Mapping[str, Declared],
    folder: str,
    kernel: Mapping[str, str],
    chips: ChipFolders,
) -> tuple[str, str, dict[str, str]]:
    """Source and name of the kernel entry of one of the operators, and the sources it is made of.

    By the type's letters, else the folder's; a source for our chip before one for another.
    ('', '', {}) where there is none.
    """
    entries = entries_of(kernel)
    others = {plain(other) for other in known if other != op_type}
    entries = [e for e in entries if plain(e[1]) not in others]
    if not entries:
        return "", "", {}
    path, name = min(
        entries,
        key=lambda e: (
            plain(e[1]) != plain(op_type),
            e[1] != folder,
            plain(e[1]) != plain(folder),
            chips.another_s(e[0]),
            PurePosixPath(e[0]).stem != folder,
            e[0].count("/"),
        ),
    )
    if len(known) < 2:
        return path, name, dict(kernel)
    reached = layout.IncludeGraph(kernel).reachable([path])
    return path, name, {p: t for p, t in kernel.items() if p in reached}
