"""Secrets of this process: read once, and then in no place where another process could look."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from ci.model.errors import InputError, plainly

FROM_FILE: Final = "_FILE"
"""A variable NAME_FILE names the file that holds the secret NAME."""
_PR_SET_DUMPABLE: Final = 4


def take(variables: Iterable[str]) -> dict[str, str]:
    """The secrets of these names; '' for one that is not given.

    Each comes from the variable, or from the file that NAME_FILE names. The variable is gone
    afterwards: children do not get it, and /proc does not show it. Raises InputError when a file
    cannot be read.
    """
    return {name: _taken(name) for name in sorted(set(variables))}


def _taken(name: str) -> str:
    file = os.environ.get(name + FROM_FILE, "")
    value = os.environ.get(name, "")
    if value:
        _wipe(name)
        return value
    try:
        return Path(file).read_text(encoding="utf-8").strip() if file else ""
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(
            f"{name + FROM_FILE}: {file} cannot be read: {plainly(problem)}."
        ) from None


Token = str | Callable[[], str]
"""A secret, or what gives it as it is now."""


def as_of_now(token: Token) -> Callable[[], str]:
    """Return a function that reads the secret's present value."""
    return (lambda: token) if isinstance(token, str) else token


def renewed(variable: str, taken: str) -> Callable[[], str]:
    """Return a function that reads the secret's present value, from its file where it has one.

    A file that is being replaced, or is empty or gone, changes nothing.
    """
    file, last = os.environ.get(variable + FROM_FILE, ""), [taken]

    def now() -> str:
        with suppress(OSError, UnicodeDecodeError):
            last[0] = Path(file).read_text(encoding="utf-8").strip() or last[0]
        return last[0]

    try:
        from_file = bool(file) and Path(file).read_text(encoding="utf-8").strip() == taken
    except (OSError, UnicodeDecodeError):
        from_file = False
    return now if from_file else lambda: taken


def _wipe(name: str) -> None:
    """Forget a variable, and overwrite it where /proc/PID/environ would go on showing it."""
    find = ctypes.CDLL(None).getenv
    find.restype = ctypes.c_void_p
    place = find(os.fsencode(name))
    if place:
        ctypes.memset(place, 0, len(ctypes.string_at(place)))
    del os.environ[name]


def hide() -> None:
    """Close this process's memory, environment and open files to others of the same user."""
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
