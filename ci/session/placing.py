"""Which files of a repository are sources of which operator."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from ci.model import layout
from ci.model.errors import InputError
from ci.source.launched.places import FILE, SUFFIXES

SOURCES: Final = (*layout.SOURCES, *SUFFIXES)
"""Endings of all files that an operator may be built from."""

LAUNCH: Final = FILE
"""The file, in its folder, that says how a program launches a kernel."""


def operators_in(
    paths: Collection[str], read: Callable[[list[str]], Mapping[str, str]]
) -> dict[str, tuple[str, ...]]:
    """Sources by operator folder, as `ci.source.placed.operators_in` finds them."""
    from ci.source.placed import operators_in

    return operators_in(paths, read)


def source_texts(top: Path) -> dict[str, str]:
    """Text of each C++ source of a checkout by path, as `ci.source.placed.source_texts` has it."""
    from ci.source.placed import source_texts

    return source_texts(top)


def places_in(folder: Path, files: Collection[Path] = ()) -> list[Path]:
    """What names each operator of a folder; of several, those that one of `files` is a source of,
    and all where none is. Paths are real ones."""
    from ci.source.discovery import load_operator, places_in

    places = places_in(folder)
    if len(places) < 2 or not files:
        return places
    concerned = []
    for place in places:
        try:
            operator = load_operator(place)
        except InputError:  # a check of it says why
            concerned.append(place)
            continue
        if not {operator.path(source).resolve() for source in operator.sources}.isdisjoint(files):
            concerned.append(place)
    return concerned or places
