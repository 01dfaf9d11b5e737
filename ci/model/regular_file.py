"""Reads a file that somebody else may have made: an ordinary one of bounded size, or a sentence.

A pipe would keep the reader waiting, a device never ends, and a link that was made after a path was
checked leads elsewhere. So what was opened is looked at, not the path.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from ci.model.errors import InputError

MOST_BYTES: Final = 64 << 20
"""Most bytes of a file that is read whole; sources and tables of people have a few MB."""

_LFS: Final = b"version https://git-lfs.github.com/spec/"


def file_bytes(path: Path, inside: Path | None = None, *, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the bytes of an ordinary file.

    `inside`: the real path of a folder that the file has to lie in with all links followed.
    Raises FileNotFoundError when there is none, and InputError when it cannot be read, is no
    ordinary file, is too large, or lies elsewhere.
    """
    try:
        place = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except FileNotFoundError:
        raise
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror}.") from None
    try:
        found = os.fstat(place)
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"{path} is {_kind(found.st_mode)}, not a file that can be read.")
        opened = Path(f"/proc/self/fd/{place}")
        if inside is not None and not opened.readlink().is_relative_to(inside):
            raise InputError(f"{path} leads out of {inside}.")
        with os.fdopen(place, "rb", closefd=False) as file:
            read = file.read(most_bytes + 1) if found.st_size <= most_bytes else None
    except OSError as problem:  # some of the kernel's files are ordinary ones by name only
        raise InputError(f"{path} cannot be read: {problem.strerror}.") from None
    finally:
        os.close(place)
    if read is None or len(read) > most_bytes:
        raise InputError(f"{path} is larger than {most_bytes >> 20} MiB.")
    return read


def file_text(path: Path, inside: Path | None = None, *, most_bytes: int = MOST_BYTES) -> str:
    """`file_bytes` as UTF-8 text; bytes that are none become replacement characters."""
    read = file_bytes(path, inside, most_bytes=most_bytes)
    return plain_ends(read.decode("utf-8", errors="replace"))


def plain_ends(text: str) -> str:
    """`text` with lines that end as on this machine."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def refuse_pointer(data: bytes, name: str) -> None:
    """Raise InputError for what Git LFS puts in a file's place where it has not been fetched."""
    if data.startswith(_LFS):
        raise InputError(
            f"{name} is a pointer of Git LFS, and the file itself is not here. In a checkout of"
            " yours `git lfs pull` fetches it; for the bot, keep this file in git itself."
        )


def _kind(mode: int) -> str:
    """Name the kind of a file that is no ordinary one."""
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a pipe" if stat.S_ISFIFO(mode) else "a device"
