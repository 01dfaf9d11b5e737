"""The files that a program reads and that a script of its repository makes.

A program's data is seldom in a repository: a script next to it draws it. The script is run in the
sandbox, with the arguments that scripts and pages around it give it, so that the program reads what
its author's does.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from ci.derive import data_child
from ci.model.errors import InputError
from ci.model.folder_walk import walk
from ci.model.regular_file import file_text
from ci.source.golden import interpreter, library_folders, python_folders
from ci.source.readable_files import shown, within
from ci.system.sandbox import Limits, run

_LIMITS: Final = Limits(
    seconds=60, memory_bytes=8 << 30, file_bytes=512 << 20, written_bytes=2 << 30
)
_MOST_SCRIPTS: Final = 3
_MOST_TRIES: Final = 3
"""Times that a script is run, each time with other arguments, until it ends well."""
_MOST_BYTES: Final = 1 << 20
_FOLDERS_UP: Final = 3
"""How far above a program its scripts may lie: in `absent_files.h` its data may, too."""
_SAYS_HOW: Final = (".sh", ".md", ".txt", ".cmake")
"""Endings of files that may say how a script is called."""
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def made_data(
    program: Path,
    top: Path,
    names: Collection[str],
    definitions: Collection[str],
    place: Path,
) -> Mapping[str, Path]:
    """Files by name that scripts around a program in the repository at `top` make, in `place`.

    `names` are those that the program missed: asked is a script that holds one of them, the nearest
    first. `definitions` are the program's macros, `NAME=value`: a script's argument may be one of
    them. Empty where there is no such script.
    """
    made: dict[str, Path] = {}
    for number, script in enumerate(_scripts(program, top, names)):
        if number == _MOST_SCRIPTS or made.keys() >= {*names}:
            break
        # Its folder and what it writes to next to it are as in the repository.
        folder = place / str(number) / "project" / script.parent.name
        folder.mkdir(parents=True)
        try:
            readable = [*python_folders(), Path(data_child.__file__), *shown(script.parent)]
        except InputError:  # a folder of too many files
            continue
        paths = ":".join(map(str, library_folders()))
        for arguments in islice(_arguments(script, top, definitions), _MOST_TRIES):
            done = run(
                [
                    *("env", f"PYTHONPATH={paths}", interpreter()),
                    *("-P", "-S", "-s", data_child.__file__, str(script), *arguments),
                ],
                cwd=folder,
                readable=readable,
                writable=[place],
                limits=_LIMITS,
            )
            if done.ok or done.timed_out:  # nor would it be faster with others
                break
        for below, _, files in walk(place / str(number)):
            for file in sorted(below / name for name in files):
                if file.is_file() and not file.is_symlink():
                    made.setdefault(file.name, file)
    return made


def _around(program: Path, top: Path, endings: tuple[str, ...]) -> Iterator[Path]:
    """Files next to a program and in folders around it, the nearest first, none twice."""
    seen: set[Path] = set()
    folder = program.parent
    for _ in range(_FOLDERS_UP):
        with suppress(OSError):
            below = sorted(p for p in folder.iterdir() if p.is_dir() and not p.is_symlink())
            for one in (folder, *below):
                for path in sorted(one.iterdir()):
                    if path.suffix in endings and path not in seen and within(path, top):
                        seen.add(path)
                        yield path
        if folder == top:
            break
        folder = folder.parent


def _scripts(program: Path, top: Path, names: Collection[str]) -> Iterator[Path]:
    for path in _around(program, top, (".py",)):
        with suppress(InputError, OSError):
            text = file_text(path, top, most_bytes=_MOST_BYTES)
            if any(name in text for name in names):
                yield path


def _arguments(script: Path, top: Path, definitions: Collection[str]) -> Iterator[list[str]]:
    """What a script may be called with, as the files around it say it, the nearest first; at last
    nothing. A variable there is a macro of the program."""
    known = dict(one.partition("=")[::2] for one in definitions)
    called = re.compile(rf"python\d?\s+\S*{re.escape(script.name)}((?:[ \t]+[^\s;&|<>#`')\"]+)+)")
    said: set[str] = set()
    for path in _around(script, top, _SAYS_HOW):
        with suppress(InputError, OSError, ValueError):
            for found in called.finditer(file_text(path, top, most_bytes=_MOST_BYTES)):
                words = _VARIABLE.sub(lambda one: known.get(one[1] or one[2], "$"), found[1])
                if "$" not in words and words not in said:
                    said.add(words)
                    yield shlex.split(words)
    yield []
