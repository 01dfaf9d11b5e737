"""What a person can do about a header or a macro that a compiler does not find."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from ci.model.build_setting import CONFIG_FILE
from ci.model.layout import SOURCES
from ci.model.operator import Operator
from ci.model.regular_file import file_text
from ci.source.build.evaluation import tree_of

_MISSING = re.compile(r"([\w./+-]+): No such file or directory")
_MODULE = re.compile(r"^[ \t]*path[ \t]*=[ \t]*(\S.*)$", re.MULTILINE)
_MACRO = re.compile(r"'([A-Z][A-Z0-9_]+)' was not declared in this scope")
_SHOWN = 3
_MOST_FILES = 2000
_MOST_READ = 200_000
"""Characters of a build's file that are looked through."""


def advice(operator: Operator, said: str) -> str:
    """Where the header or macro that `said` misses may come from, a sentence; '' where nothing
    tells."""
    if operator.repository is None:
        return ""
    top = operator.repository.resolve()
    if macro := _MACRO.search(said):
        return _of_macro(macro.group(1), top)
    missing = _MISSING.search(said)
    if missing is None:
        return ""
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
    if len(tail) > 1 and (fetched := _fetched(tail[0], top)):
        file, address = fetched
        return (
            f" {tail[0]} is not here; {file} says that it comes from {address}: clone it into the"
            f" folder where the build looks for it, or let the build do that."
        )
    return (
        f" No file of the repository is called so, nor is any header that stands for the toolkit's:"
        f" copy it into the repository from where it lies, and where the build does not name its"
        f" folder, do so in {CONFIG_FILE}, under build: include:."
    )


def _of_macro(name: str, top: Path) -> str:
    """The same for a macro that a build may give: which file that is no source speaks of it."""
    given = re.compile(rf"-D\s*{name}\b")
    says = next((one for one in _no_sources(top) if given.search(_start(top / one))), "")
    if not says:
        return ""
    return (
        f" {says} gives it to a compiler, in a way that is not read here: write it into"
        f" {CONFIG_FILE}, under build: definitions:, as {name}=VALUE."
    )


def _fetched(name: str, top: Path) -> tuple[str, str] | None:
    """The file that is no source and names the address of a repository or archive called so.

    A page may name it as part of any address; a repository's is that of a server, its owner and its
    name, and ends there or in `.git`, an archive's in its version.
    """
    called, part = re.escape(name), r"[^\s\"'<>():/]+"
    address = re.compile(
        rf"\b(?:(?:https?|ssh)://{part}/{part}/|git@{part}:{part}/){called}(?:\.git)?(?!\.?[\w/-])"
        rf"|\bhttps?://(?:{part}/)+{called}(?:\.git|-[\w.-]*\d[\w.-]*)(?![\w/])"
    )
    for one in _no_sources(top):
        if found := address.search(_start(top / one)):
            return one, found.group()
    return None


def _no_sources(top: Path) -> list[str]:
    return [one for one in tree_of(top).files if not one.endswith(SOURCES)][:_MOST_FILES]


def _start(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_READ)
    except OSError:
        return ""


def _empty_submodules(top: Path) -> list[str]:
    listed = top / ".gitmodules"
    if listed.is_symlink() or not listed.is_file():
        return []
    paths = [path.strip() for path in _MODULE.findall(file_text(listed, top))]
    inside = [p for p in paths if ".." not in p and not p.startswith("/")]
    return [p for p in inside if not _holds_something(top / p)]


def _holds_something(folder: Path) -> bool:
    return folder.is_dir() and any(one.name != ".git" for one in folder.iterdir())
