"""Which files of a repository are sources of which operator."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from ci.model import layout
from ci.source.launch_places import FILE, SUFFIXES

SOURCES: Final = (*layout.SOURCES, *SUFFIXES)
"""Endings of all files that an operator may be built from."""

LAUNCH: Final = FILE
"""The file, in its folder, that says how a program launches a kernel."""


def operators_in(
    paths: Collection[str], read: Callable[[list[str]], Mapping[str, str]]
) -> dict[str, tuple[str, ...]]:
    """Sources by what names the operator, as `ci.source.listed.operators_in` finds them."""
    from ci.source.listed import operators_in

    return operators_in(paths, read)


def folder_of(place: str, sources: Collection[str]) -> str:
    """The folder whose files are those of the operator that `place` names: the one above where
    several share it; '' for a launched kernel, which is made of what its workload names."""
    if layout.below(place, LAUNCH) in sources:
        return ""
    inside = any(source.startswith(layout.below(place)) for source in sources)
    return place if inside else posixpath.dirname(place) or layout.TOP


def workload_folders(place: str, files: Collection[str]) -> list[str]:
    """The folders next to an operator that its workload may be in, its own first: of several in a
    folder the one of the folder's name may have it there."""
    from ci.source.placed import plain

    outer, _, name = place.rpartition("/")
    namesake = plain(outer.rpartition("/")[2]) == plain(name)
    host = f"{outer}/{layout.HOST}/"
    within_one = namesake and any(file.startswith(host) for file in files)
    return [place, outer] if within_one else [place]


def source_texts(top: Path) -> dict[str, str]:
    """Text of each C++ source of a checkout by path, as `ci.source.placed.source_texts` has it."""
    from ci.source.placed import source_texts

    return source_texts(top)


def places_in(folder: Path) -> list[Path]:
    """What names each operator of a folder."""
    from ci.source.discovery import places_in

    return places_in(folder)
