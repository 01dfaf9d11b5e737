"""Sources as a compiler takes them that is older than the language that they are written in."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from ci.model import layout
from ci.source.class_specializations import as_overloads
from ci.source.unset_members import with_members_set
from ci.system.cache import BuildCache, digest, digest_tree

FLAGS: Final = ("-fconcepts",)
"""What a compilation of rewritten sources needs more."""

_FLAGS_OF_FOLDERS: Final = ("-idirafter", "-I")
_MOST_FILES: Final = 20_000


def rewrite(folder: Path) -> None:
    """Rewrite the sources below a folder in place; each keeps its age, by which the compiler knows
    two copies of one file."""
    for path in _sources(folder):
        old = path.read_bytes()
        new = _rewritten(old)
        if new != old:
            age = path.stat().st_mtime_ns
            path.write_bytes(new)
            os.utime(path, ns=(age, age))


def with_copies(arguments: Iterable[str], folders: Sequence[Path], cache: BuildCache) -> list[str]:
    """The compiler's arguments with a rewritten copy for each of the include folders that needs
    one; what is compiled from it bears the names of the original."""
    copies = {str(one): copy for one in folders if (copy := _copy(one, cache)) != one}
    found = list(map(str, arguments))
    for at, argument in enumerate(found):
        flag = next((f for f in _FLAGS_OF_FOLDERS if argument.startswith(f)), "")
        if flag and argument.removeprefix(flag) in copies:
            found[at] = f"{flag}{copies[argument.removeprefix(flag)]}"
    return [*found, *(f"-ffile-prefix-map={copy}={one}" for one, copy in copies.items())]


def copies_of(folders: Sequence[Path], cache: BuildCache) -> list[Path]:
    """The copies that `with_copies` names."""
    return [copy for one in folders if (copy := _copy(one, cache)) != one]


def _copy(folder: Path, cache: BuildCache) -> Path:
    return _copied(folder, cache.root, cache)


@lru_cache(maxsize=64)
def _copied(folder: Path, root: Path, cache: BuildCache) -> Path:
    paths = list(_sources(folder))
    if len(paths) > _MOST_FILES or not any(
        _rewritten(p.read_bytes()) != p.read_bytes() for p in paths
    ):
        return folder
    rules = [
        Path(rule.__code__.co_filename).read_bytes() for rule in (as_overloads, with_members_set)
    ]

    def make(place: Path) -> None:
        for path in paths:
            copy = place / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)
        rewrite(place)

    return cache.get("rewritten", digest([*rules, digest_tree(folder, layout.SOURCES)]), make)


def _sources(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in layout.SOURCES and path.is_file() and not path.is_symlink():
            yield path


def _rewritten(text: bytes) -> bytes:
    plain = text.decode("utf-8", errors="surrogateescape")
    return with_members_set(as_overloads(plain)).encode("utf-8", errors="surrogateescape")
