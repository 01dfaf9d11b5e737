"""Finds what an include means by the repository's tree, where the build's folders do not say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath

from ci.model import layout
from ci.model.regular_file import file_text
from ci.source.build.evaluation import Tree, operator_roots
from ci.source.include_lookup import file_named

_MOST = 400
"""Files of a closure that are looked at."""

_PACKAGE = Path(__file__).parents[2]
_TOOLKIT = (_PACKAGE / "simulator" / "ascendc", _PACKAGE / "host" / "cpp")
"""Where headers stand that the toolkit has: the compiler meets them before the tree."""


class TreeIncludes:
    """The files of a repository by their names: an include may name one of any ending."""

    def __init__(self, tree: Tree) -> None:
        self.top = tree.top
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in tree.files:
            self._by_name[path.rpartition("/")[2]].append(path)
        # A folder without a kernel to compile is one that operators share.
        shared = {
            folder
            for folder, sources in layout.operators(tree.files).items()
            if not any(
                layout.side(p) == layout.KERNEL and p.endswith(layout.UNITS) for p in sources
            )
        }
        self._operators = frozenset(map(PurePosixPath, operator_roots(tree) - shared))

    def folder(self, spelled: str, including: PurePosixPath) -> Path | None:
        """The folder that an include as it is spelled starts from, nearest to the file that
        includes it; None where the tree has no such file, or the include leads upwards."""
        tail = PurePosixPath(spelled).parts
        if not tail or ".." in tail or tail[0] in (".", "/"):
            return None
        named = map(PurePosixPath, self._by_name.get(tail[-1], ()))
        ours = (path for path in named if layout.APART.isdisjoint(path.parts))
        fitting = [path for path in ours if path.parts[-len(tail) :] == tail]
        if not fitting:
            return None
        nearest = min(fitting, key=lambda path: self._distance(path, including))
        return self.top.joinpath(*nearest.parts[: -len(tail)])

    def _distance(self, path: PurePosixPath, including: PurePosixPath) -> tuple[object, ...]:
        """What is shared comes before what another operator has for itself, then what is near."""
        common = 0
        for one, other in zip(path.parts, including.parts, strict=False):
            if one != other:
                break
            common += 1
        holder = next((above for above in path.parents if above in self._operators), None)
        another = holder is not None and holder not in including.parents
        host = layout.side(including.as_posix()) == layout.HOST
        wrong_side = "kernel" in path.as_posix() if host else "host" in path.as_posix()
        return another, -common, wrong_side, len(path.parts), path.as_posix()


@lru_cache(maxsize=8)
def tree_includes(tree: Tree) -> TreeIncludes:
    """The files of a repository, read once."""
    return TreeIncludes(tree)


def folders_of_tree(
    tree: Tree, sources: Mapping[str, str], root: Path, folders: Iterable[Path]
) -> dict[Path, str]:
    """Folders that the sources' includes start from by the tree, and an include that asks for each.

    `sources` are texts by path below `root`; `folders` come first, as do the places below `root`.
    What only the toolkit has is not found.
    """
    index = tree_includes(tree)
    known = tuple(folders)
    own = tuple({(root / path).parent for path in sources} | {root})
    found: dict[Path, str] = {}
    seen: set[Path] = set()
    waiting = [(root / path, text) for path, text in sources.items()]
    while waiting and len(seen) < _MOST:
        place, text = waiting.pop(0)
        for spelled in layout.included(text):
            file = file_named(spelled, (place.parent, *own, *known, *_TOOLKIT, *found))
            if file is None and place.is_relative_to(tree.top):
                inside = PurePosixPath(place.relative_to(tree.top).as_posix())
                folder = index.folder(spelled, inside)
                if folder is not None:
                    found.setdefault(folder, spelled)
                    file = folder / spelled
            if file is not None and (file := file.resolve()) not in seen:
                seen.add(file)
                if any(file.is_relative_to(folder) for folder in _TOOLKIT):
                    continue
                if not file.is_relative_to(root) and file.is_relative_to(tree.top):
                    waiting.append((file, file_text(file)))
    return found
