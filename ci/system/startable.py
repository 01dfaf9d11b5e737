"""Programs that are written and then started at once.

Linux starts no file that somebody may write ("Text file busy"). What a process opens to write it, a
child has open, too, that another of its threads starts at that moment, until the child has become
another program. So the file is written by a process of its own, which starts none.
"""

from __future__ import annotations

import subprocess
from pathlib import Path


def copy_startable(program: Path, place: Path) -> None:
    """Copy a program with its mode; raises subprocess.CalledProcessError where that fails."""
    subprocess.run(["cp", "--", program, place], check=True, capture_output=True)


def write_startable(program: bytes, place: Path) -> None:
    """Write a program; raises subprocess.CalledProcessError where that fails."""
    copy = ["cp", "--", "/dev/stdin", str(place)]
    subprocess.run(copy, input=program, check=True, capture_output=True)
