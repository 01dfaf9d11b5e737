"""Folders of this host on another one: packed, named by what they hold, unpacked once.

Hidden entries (`.git`, `.env`) and what builds leave stay here; an empty `.git` marks the top of a
repository on the other side.
"""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from ci.backend.pool.base import Question
from ci.model.errors import InputError
from ci.model.folder_walk import walk
from ci.system.cache import BuildCache

MOST_BYTES: Final = 1 << 30
"""Most bytes of a folder that is sent to other hosts; ops-math has 150 MB."""

_TREES: Final = "trees"
_MARK: Final = ".git"
_MADE: Final = ("build", "build_out", "__pycache__", "ascendopt-out")
"""Folders that are made of the others."""


def _files(top: Path) -> Iterator[Path]:
    """Regular files below a folder in order, and links to such that stay inside."""
    for folder, names, files in walk(top):
        names[:] = sorted(n for n in names if n not in _MADE and not n.startswith("."))
        for name in sorted(f for f in files if not f.startswith(".")):
            path = folder / name
            meant = path.resolve()
            if meant.is_file() and meant.is_relative_to(top) and not _hidden(meant, top):
                yield path


def _hidden(path: Path, top: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(top).parts)


def pack(top: Path) -> tuple[str, bytes]:
    """A name for what the folder holds, and the archive. Raises InputError when it is too large."""
    top = top.resolve()
    files = list(_files(top))
    size = sum(f.stat().st_size for f in files)
    if size > MOST_BYTES:
        raise InputError(
            f"{top} holds {size >> 20} MB, more than the {MOST_BYTES >> 20} MB that are sent to"
            " other hosts; clean what was built in it."
        )
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", compresslevel=1, dereference=True) as archive:
        for file in files:
            archive.add(file, file.relative_to(top).as_posix(), recursive=False, filter=_plain)
        if (top / _MARK).exists():
            mark = tarfile.TarInfo(_MARK)
            mark.type, mark.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(mark)
    named = hashlib.sha256()
    for file in files:
        # Not the archive's own bytes: these hold the time of packing.
        for part in (file.relative_to(top).as_posix().encode(), file.read_bytes()):
            named.update(len(part).to_bytes(8, "little") + part)
    return named.hexdigest()[:32], made.getvalue()


@lru_cache(maxsize=8)
def packed(top: Path) -> tuple[str, bytes]:
    """`pack`, once a run: what a run judges does not change under it."""
    return pack(top)


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without what says whose file it was, and when."""
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    return info


def question(name: str, archive: bytes | None) -> Question:
    """Ask a worker for the tree of this name; it is unpacked when the archive comes along."""
    data = None if archive is None else base64.b64encode(archive).decode()
    return Question(handler="ci.backend.pool.trees:answer", text=[name, data])


def answer(text: JsonValue, folders: dict[str, Path]) -> JsonValue:
    """Where the tree lies on this host, None when it is not there and no archive came."""
    assert isinstance(text, list)
    name, data = text
    cache = BuildCache()
    if data is None and not (cache.root / _TREES / str(name)).is_dir():
        return None

    def unpack(folder: Path) -> None:
        with tarfile.open(fileobj=io.BytesIO(base64.b64decode(str(data)))) as archive:
            for member in archive:
                _lay(archive, member, folder)

    return str(cache.get(_TREES, str(name), unpack))


def _lay(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Lay a file or folder of an archive below `folder`.

    `extractall(filter=...)` is unknown to Python 3.11.2, which Debian 12 has.
    """
    place, content = folder / member.name, archive.extractfile(member) if member.isfile() else None
    if not place.resolve().is_relative_to(folder.resolve()) or not (content or member.isdir()):
        raise InputError(f"The tree of another host holds {member.name}, which is no file of it.")
    if content is None:
        place.mkdir(parents=True, exist_ok=True)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content.read())
    place.chmod(member.mode & 0o755 | 0o600)
