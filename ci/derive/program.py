"""A program of a repository, as its build puts it together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ci.model import layout
from ci.model.errors import InputError
from ci.model.regular_file import file_text
from ci.source.build.facts import target_of
from ci.source.build.settings import build_setting
from ci.source.device_half import for_device
from ci.source.launch_places import SUFFIXES
from ci.source.readable_files import within

_SOURCES: Final = (*layout.UNITS, *SUFFIXES)
"""Endings of what is compiled for itself."""
MOST_BYTES: Final = 1 << 20
"""A longer source is not read."""
_MOST_SOURCES: Final = 16
_MOST_HEADERS: Final = 200

MAIN: Final = re.compile(r"\bmain\s*\(")
"""What a program has in one of its sources."""


@dataclass(frozen=True)
class Program:
    """Sources that are compiled and linked to one program."""

    path: Path
    """Where its `main` is."""
    top: Path
    """The repository."""
    texts: Sequence[str]
    """Its sources, that one first."""
    include_folders: Sequence[Path] = ()
    definitions: Sequence[str] = ()
    """`NAME` or `NAME=value` of each macro that its build gives it."""
    device_headers: Mapping[str, str] = field(default_factory=dict)
    """Texts of headers that hold device code, by how they are included."""
    absent_headers: Sequence[str] = ()
    """What is included, directly or not, and is not in the repository, as it is spelled."""
    structures: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The fields of structures that it gives to a kernel by value, by the whole names of these."""
    prototypes: Mapping[str, str] = field(default_factory=dict)
    """REG_OP of operators that it may have in a graph without a header that says it, by type."""


def program_of(top: Path, path: Path, text: str) -> Program:
    """The program whose `main` is in `text`, in the repository at `top`.

    Its sources, include folders and macros are those of the first target of the build that takes
    it; where none does, what has no `main` in its folder is linked with it. Folders that its
    includes lead to are among the include folders.
    """
    top, path = top.resolve(), path.resolve()
    target = target_of(top, path)
    if target is not None:
        sources = [top / one for one in target.sources]
        asked = [top / one for one in target.include_folders]
    else:
        sources, asked = sorted(path.parent.iterdir()), []
    definitions = [*(target.definitions if target is not None else ())]
    definitions += build_setting(top, path.parent.relative_to(top).as_posix()).definitions
    texts = [text, *_others(top, path, [one for one in sources if one.suffix in _SOURCES])]
    headers, absent = _headers(top, path, asked, texts)
    led_to = sorted({p.parent for name, (p, _) in headers.items() if "/" in name})
    return Program(
        path,
        top,
        texts,
        [*dict.fromkeys([*asked, *led_to])],
        definitions,
        {name: one for name, (_, one) in headers.items() if for_device(one)},
        absent,
    )


def _headers(
    top: Path, path: Path, asked: Sequence[Path], texts: Sequence[str]
) -> tuple[dict[str, tuple[Path, str]], list[str]]:
    """Path and text of what is included, directly or not, by how it is spelled; and what of it is
    not there."""
    found: dict[str, tuple[Path, str]] = {}
    spelled_so: dict[str, None] = {}

    def find(source: Path, spelled: str) -> Iterator[tuple[Path, str]]:
        spelled_so[spelled] = None
        for folder in (source.parent, path.parent, *asked):
            one = folder / spelled
            with suppress(InputError, OSError):
                if spelled not in found and one.is_file() and within(one, top):
                    real = one.resolve()
                    found[spelled] = real, file_text(real, top, most_bytes=MOST_BYTES)
                    yield found[spelled]

    # All sources are looked at as if they were where the program is, as they are compiled there.
    layout.closure({path: "\n".join(texts)}, find, _MOST_HEADERS)
    return found, [one for one in spelled_so if one not in found]


def _others(top: Path, path: Path, sources: Sequence[Path]) -> Iterator[str]:
    for one in sources[:_MOST_SOURCES]:
        with suppress(InputError, OSError):
            if one != path:
                text = file_text(one, top, most_bytes=MOST_BYTES)
                if not MAIN.search(text):
                    yield text
