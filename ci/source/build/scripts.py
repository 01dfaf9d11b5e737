"""Reads what Makefiles and shell scripts give a kernel's compiler, by running them without one.

They run in the sandbox, in a copy of the repository: `noted_commands.bash` notes each command that
compiles a source in place of running it. So a script is read as it is meant, whatever loops, paths
and variables it has; nothing is compiled.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final

from ci.model import layout
from ci.model.errors import InputError
from ci.model.regular_file import file_bytes
from ci.source.build.evaluation import Tree
from ci.source.launch_places import SUFFIXES
from ci.system.cache import BuildCache, digest
from ci.system.sandbox import Limits, run, sandbox_level
from ci.system.scratch import scratch

_NOTES: Final = Path(__file__).with_name("noted_commands.bash")
_MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")
_UNITS: Final = (*layout.UNITS, *SUFFIXES)
_COMPILES: Final = re.compile("|".join(rf"{re.escape(one)}\b" for one in (*_UNITS, ".o")))
"""A mark of a script that compiles."""
_MOST_SCRIPTS: Final = 6
_MOST_BYTES: Final = 64 << 20
"""Bytes of a repository that is copied: one that is built without cmake is small."""
_LIMITS: Final = Limits(seconds=20, processes=64)
_CALM: Final = ("HOME=/nowhere", "SHELL=/bin/bash")
"""Else bash asks the machine's list of users, by a socket, for which the sandbox ends it."""
_WITH_VALUE: Final = ("-I", "-D", "-isystem", "-include")


@dataclass(frozen=True)
class Compilation:
    """A command that compiles a source; paths are from the repository's top."""

    source: str
    options: tuple[str, ...]
    """Macros, include folders and what is said of automatic synchronisation, each in one word."""
    script: str


def compilations(tree: Tree, folder: str) -> tuple[Compilation, ...]:
    """What scripts in `folder` and above, a path from the top, compile: the nearest one first.

    Nothing where the sandbox has no walls around files: scripts remove and overwrite some.
    """
    if sandbox_level() == "limits":
        return ()
    scripts = [*islice(_scripts(tree, folder), _MOST_SCRIPTS)]
    state = digest(_ages(tree)) if scripts else ""
    return tuple(one for script in scripts for one in _compiled(tree, script, state))


def _scripts(tree: Tree, folder: str) -> Iterator[str]:
    for place in (PurePosixPath(folder), *PurePosixPath(folder).parents):
        for path in _known_scripts(tree).get(place, ()):
            if _COMPILES.search(tree.text(path)):
                yield path


@lru_cache(maxsize=8)
def _known_scripts(tree: Tree) -> dict[PurePosixPath, list[str]]:
    """Makefiles and shell scripts by their folder."""
    found: dict[PurePosixPath, list[str]] = {}
    for path in map(PurePosixPath, tree.files):
        if path.name in _MAKEFILES or path.suffix == ".sh":
            found.setdefault(path.parent, []).append(path.as_posix())
    return found


def _compiled(tree: Tree, script: str, state: str) -> list[Compilation]:
    """What a script compiles; kept on disk by the `state` of all that it may have read."""
    key = digest([_NOTES.read_bytes(), Path(__file__).read_bytes(), script, state])

    def make(place: Path) -> None:
        found = [asdict(one) for one in _noted(tree, script)]
        (place / "compiled.json").write_text(json.dumps(found), encoding="utf-8")

    kept = json.loads((BuildCache().get("scripts", key, make) / "compiled.json").read_text("utf-8"))
    return [Compilation(**{**one, "options": tuple(one["options"])}) for one in kept]


def _ages(tree: Tree) -> Iterator[str]:
    """What changes when a file does; a script may read any."""
    yield str(tree.top)
    for path in tree.files:
        with suppress(OSError):  # gone
            about = (tree.top / path).lstat()
            yield f"{path} {about.st_size} {about.st_mtime_ns}"


def _noted(tree: Tree, script: str) -> list[Compilation]:
    with scratch("script") as folder:
        place = Path(folder).resolve()
        stage, notes = place / "stage", place / "notes"
        if not _copied(tree, stage):
            return []
        at = PurePosixPath(script)
        command = ["make", "-B", "-k", "SHELL=/bin/bash", "-f", at.name]
        run(
            [
                *("env", f"BASH_ENV={_NOTES}", f"ASCENDOPT_NOTED={notes}", *_CALM),
                f"ASCENDOPT_UNITS={'|'.join(f'*{one}' for one in _UNITS)}",
                *(command if at.name in _MAKEFILES else ["bash", at.name]),
            ],
            cwd=stage / at.parent,
            readable=[_NOTES],
            writable=[place],
            limits=_LIMITS,
        )
        noted = ""
        with suppress(OSError, InputError):  # the script may have put anything there
            noted = file_bytes(notes, place).decode("utf-8", "replace")
        commands = (one.split("\0") for one in noted.split("\0\n\0"))
        return [
            Compilation(source, tuple(_options(words, where, stage)), script)
            for where, *words in commands
            for source in _sources(words, where, stage)
        ]


def _copied(tree: Tree, stage: Path) -> bool:
    """Copy the repository's files; False where they are too many or too large."""
    left = _MOST_BYTES
    for path in tree.files:
        file = tree.top / path
        if file.is_symlink():
            continue
        with suppress(OSError, InputError):  # gone, or not ours to read
            left -= file.stat().st_size
            if left < 0:
                return False
            (stage / path).parent.mkdir(parents=True, exist_ok=True)
            (stage / path).write_bytes(file_bytes(file))
    return True


def _sources(words: Iterable[str], where: str, stage: Path) -> Iterator[str]:
    for word in words:
        path = "" if word.startswith("-") else _inside(word, where, stage)
        if path.endswith(_UNITS) and (stage / path).is_file():
            yield path


def _options(words: list[str], where: str, stage: Path) -> Iterator[str]:
    joined = iter(words)
    for word in joined:
        head = next((one for one in _WITH_VALUE if word.startswith(one)), "")
        value = word.removeprefix(head) or next(joined, "") if head else ""
        if head == "-D":
            yield f"-D{value}"
        elif head in ("-I", "-isystem"):
            if path := _inside(value, where, stage):
                yield f"-I{path}"
        elif word.startswith("--cce-auto-sync"):
            yield word


def _inside(word: str, where: str, stage: Path) -> str:
    """The path of a word from the top, '' for one outside."""
    path = os.path.normpath(Path(where) / word)
    return path.removeprefix(f"{stage}/") if path.startswith(f"{stage}/") else ""
