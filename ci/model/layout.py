"""Sources of an operator: which files they are, where they lie, and who includes whom.

One definition for what optimizes a work tree and for the bot, which reads a git tree: nothing here
looks at a disk.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final, TypeVar

HOST: Final = "op_host"
KERNEL: Final = "op_kernel"
"""An operator is a folder that holds both."""

TOP: Final = "."
"""The folder of an operator whose repository holds nothing else, as msopgen makes it."""

HEADERS: Final = (".h", ".hpp", ".hxx", ".inc")
UNITS: Final = (".cpp", ".cc", ".cxx")
SOURCES: Final = HEADERS + UNITS

SKIPPED: Final = frozenset({".git", "tests", "test", "build", "build_out", "third_party"})
"""Folders that hold no operator and no source of one."""

APART: Final = SKIPPED | {"examples", "docs"}
"""Folders whose headers are for themselves: no source elsewhere includes from them."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_Place = TypeVar("_Place")


def side(path: str) -> str:
    """`op_kernel` or `op_host`, whichever folder of an operator a path leads into; '' for none."""
    folders = path.split("/")[:-1]
    return next((name for name in (KERNEL, HOST) if name in folders), "")


def below(folder: str, path: str = "") -> str:
    """A path from the repository's top, of one that is seen from an operator's folder there; what
    all paths in that folder begin with, where none is given."""
    return path if folder == TOP else f"{folder}/{path}"


def called(folder: str) -> str:
    """What a person reads for an operator's folder."""
    return "the whole repository" if folder == TOP else folder


def operators(paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Sources by operator folder, in order, among the files of a repository, paths from its top."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in paths:
        folders = path.split("/")[:-1]
        at = next((i for i, name in enumerate(folders) if name in (HOST, KERNEL)), -1)
        if at >= 0 and path.endswith(SOURCES) and SKIPPED.isdisjoint(folders):
            found["/".join(folders[:at]) or TOP][folders[at]].append(path)
    whole = {folder for folder, sides in found.items() if len(sides) == 2}
    return {
        folder: tuple(sorted(path for paths in found[folder].values() for path in paths))
        for folder in sorted(whole)
        if whole.isdisjoint(str(above) for above in PurePosixPath(folder).parents)
    }


def included(text: str) -> list[str]:
    """Return the includes of a source, as it spells them."""
    return _INCLUDE.findall(text)


def closure(
    starts: Mapping[_Place, str],
    find: Callable[[_Place, str], Iterable[tuple[_Place, str]]],
    most: int,
) -> dict[_Place, str]:
    """Texts of up to `most` files that `starts` (texts by place) include, directly or not.

    `find` gives place and text of what an include means, from its place and spelling.
    """
    found: dict[_Place, str] = {}
    waiting = list(starts.items())
    while waiting and len(found) < most:
        place, text = waiting.pop()
        for spelled in included(text):
            for one in find(place, spelled):
                if one[0] not in found:
                    found[one[0]] = one[1]
                    waiting.append(one)
    return found


class IncludeGraph:
    """Who includes whom in a repository whose builds are not known: a file is found next to the one
    that includes it, else wherever a path ends as the include is spelled."""

    def __init__(self, files: Mapping[str, str]) -> None:
        """`files`: text by path from the repository's top."""
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in files:
            self._by_name[posixpath.basename(path)].append(path)
        self._includes = {path: self._resolve(path, text) for path, text in files.items()}

    def _resolve(self, path: str, text: str) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for spelled in included(text):
            known = self._by_name.get(posixpath.basename(spelled), ())
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), spelled))
            if beside in known:
                found[beside] = None
                continue
            tail = "/".join(p for p in spelled.split("/") if p not in ("", ".", ".."))
            found |= dict.fromkeys(p for p in known if f"/{p}".endswith(f"/{tail}"))
        return tuple(found)

    def reachable(self, starts: Iterable[str]) -> frozenset[str]:
        """The starting files and everything that they include, directly or not."""
        seen: set[str] = set()
        waiting = list(starts)
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                waiting.extend(self._includes.get(path, ()))
        return frozenset(seen)
