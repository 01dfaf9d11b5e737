"""Ends a program that fills the disk, or the memory that its folders are in, by many files."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from ci.model.folder_walk import walk

EVERY_S: Final = 0.1
"""How often it is looked at, in seconds; so much more than the limit may be written."""


@contextmanager
def bounded(
    process: subprocess.Popen[bytes], folders: Sequence[Path], most_bytes: int
) -> Iterator[None]:
    """Meanwhile the program is ended as soon as the folders take more than that on the disk."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(EVERY_S):
            if written(folders, process.pid) > most_bytes:
                with suppress(ProcessLookupError, PermissionError):
                    if process.returncode is None:
                        os.killpg(process.pid, signal.SIGKILL)
                return

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        if watcher is not threading.current_thread():  # which tidies up what nobody needs
            watcher.join()


def written(folders: Sequence[Path], process: int) -> int:
    """Bytes on the disk of what lies in folders, and of what a program and what it has begun hold
    open without a name."""
    named = (folder / name for top in folders for folder, _, files in walk(top) for name in files)
    opened = (file for one in _family(process) for file in _listed(Path(f"/proc/{one}/fd")))
    sizes: dict[tuple[int, int], int] = {}
    for file, follow in (*((f, False) for f in named), *((f, True) for f in opened)):
        with suppress(OSError):  # gone meanwhile
            found = file.stat(follow_symlinks=follow)
            if not follow or not found.st_nlink:
                sizes[found.st_dev, found.st_ino] = found.st_blocks * 512
    return sum(sizes.values())


def _family(process: int) -> Iterator[int]:
    """A process and all that it has begun."""
    pending = [process]
    while pending:
        yield (one := pending.pop())
        for thread in _listed(Path(f"/proc/{one}/task")):
            with suppress(OSError):
                pending += map(int, (thread / "children").read_text().split())


def _listed(folder: Path) -> list[Path]:
    try:
        return [*folder.iterdir()]
    except OSError:
        return []
