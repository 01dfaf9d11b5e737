"""Short-lived folders for what travels between this program and those in the sandbox."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

IN_MEMORY = Path("/dev/shm")
"""Where Linux keeps files in memory: nothing is written to a disk, removing them costs nothing."""

ROOM = 4
"""So many times what is needed must be free there: others use it too."""


@cache
def _usable() -> bool:
    return IN_MEMORY.is_dir() and os.access(IN_MEMORY, os.W_OK | os.X_OK)


def scratch(prefix: str, needed_bytes: int = 0) -> tempfile.TemporaryDirectory[str]:
    """A folder that is gone at the end of the `with`; in memory where `needed_bytes` fit well.

    A folder that the user asks for with TMPDIR is taken instead.
    """
    folder = None
    if "TMPDIR" not in os.environ and _usable():
        about = os.statvfs(IN_MEMORY)
        if about.f_bavail * about.f_frsize >= ROOM * needed_bytes + (64 << 20):
            folder = str(IN_MEMORY)
    return tempfile.TemporaryDirectory(prefix=f"ascendopt-{prefix}-", dir=folder)
