"""Which files of a repository are sources of which operator."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from ci.model import layout
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
