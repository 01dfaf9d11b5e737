"""Short-lived folders for what travels between this program and those in the sandbox.

They lie in a folder of this process, which holds a lock in it for as long as it lives. Whoever
comes next removes the folders of processes that were killed.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
import threading
from functools import cache
from pathlib import Path

IN_MEMORY = Path("/dev/shm")
"""Where Linux keeps files in memory: nothing is written to a disk, removing them costs nothing."""

ROOM = 4
"""So many times what is needed must be free there: others use it too."""

_PREFIX = "ascendopt-run-"
_LOCK = "alive"

_own: dict[tuple[int, Path], Path] = {}
"""Folder of each process (a forked one has its own) in each place."""

_lock = threading.Lock()


@cache
def _usable() -> bool:
    return IN_MEMORY.is_dir() and os.access(IN_MEMORY, os.W_OK | os.X_OK)


def scratch(prefix: str, needed_bytes: int = 0) -> tempfile.TemporaryDirectory[str]:
    """A folder that is gone at the end of the `with`; in memory where `needed_bytes` fit well.

    A folder that the user asks for with TMPDIR is taken instead.
    """
    place = Path(tempfile.gettempdir())
    if "TMPDIR" not in os.environ and _usable():
        about = os.statvfs(IN_MEMORY)
        if about.f_bavail * about.f_frsize >= ROOM * needed_bytes + (64 << 20):
            place = IN_MEMORY
    return _folder(prefix, place)


def scratch_on_disk(prefix: str) -> tempfile.TemporaryDirectory[str]:
    """The same where files are mapped in large pieces: those in memory are mapped page by page."""
    return _folder(prefix, Path(tempfile.gettempdir()))


def _folder(prefix: str, place: Path) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix=f"{prefix}-", dir=_of_this_process(place))


def _of_this_process(place: Path) -> Path:
    """This process's folder in a place, made at the first call."""
    key = os.getpid(), place
    with _lock:
        if key not in _own or not _own[key].is_dir():
            remove_left_behind(place)
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
            # Locked before it has the name by which others look for it.
            _locked(folder / "new")
            (folder / "new").rename(folder / _LOCK)
            atexit.register(_remove, folder, key[0])
            _own[key] = folder
        return _own[key]


def remove_left_behind(place: Path) -> None:
    """Remove the folders in a place whose processes of this user are gone."""
    for folder in place.glob(f"{_PREFIX}*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:  # being made, or removed by its process
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # its process lives
            pass
        finally:
            os.close(lock)


def _locked(file: Path) -> None:
    """Make a file and lock it until this process and all that it forked have ended."""
    fcntl.flock(os.open(file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600), fcntl.LOCK_EX)


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
