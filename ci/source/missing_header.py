"""What a person can do about a header that a compiler does not find."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from ci.model.build_setting import CONFIG_FILE
from ci.model.operator import Operator
from ci.model.regular_file import file_text
from ci.source.build.evaluation import tree_of

_MISSING = re.compile(r"([\w./+-]+): No such file or directory")
_MODULE = re.compile(r"^[ \t]*path[ \t]*=[ \t]*(\S.*)$", re.MULTILINE)
_SHOWN = 3


def advice(operator: Operator, said: str) -> str:
    """Where the header that `said` misses may come from, a sentence; '' where nothing tells."""
    missing = _MISSING.search(said)
    if missing is None or operator.repository is None:
        return ""
    top = operator.repository.resolve()
    tail = PurePosixPath(missing.group(1)).parts
    found = [
        PurePosixPath(*path.parts[: -len(tail)]).as_posix()
        for one in tree_of(top).files
        if one.endswith(tail[-1]) and (path := PurePosixPath(one)).parts[-len(tail) :] == tail
    ]
    if found:
        return (
            f" It lies in {', '.join(sorted(found)[:_SHOWN])}: if the operator is built with that,"
            f" name the folder in {CONFIG_FILE}, under build: include:."
        )
    if empty := _empty_submodules(top):
        return (
            f" It may be in a submodule that is not checked out ({', '.join(empty[:_SHOWN])}):"
            " `git submodule update --init` fetches them."
        )
    return (
        f" No file of the repository is called so, nor is any header that stands for the toolkit's:"
        f" copy it into the repository from where it lies, and where the build does not name its"
        f" folder, do so in {CONFIG_FILE}, under build: include:."
    )


def _empty_submodules(top: Path) -> list[str]:
    listed = top / ".gitmodules"
    if listed.is_symlink() or not listed.is_file():
        return []
    paths = [path.strip() for path in _MODULE.findall(file_text(listed, top))]
    inside = [p for p in paths if ".." not in p and not p.startswith("/")]
    return [p for p in inside if not _holds_something(top / p)]


def _holds_something(folder: Path) -> bool:
    return folder.is_dir() and any(one.name != ".git" for one in folder.iterdir())
