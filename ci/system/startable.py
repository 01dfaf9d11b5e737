"""Programs that are written and then started at once.

Linux starts no file that somebody may write ("Text file busy"). What a process opens to write it, a
child has open, too, that another of its threads starts at that moment, until the child has become
another program. So the file is written by a process of its own, which starts none.
"""

from __future__ import annotations

import subprocess
from pathlib import Path


def copy_startable(program: Path, place: Path) -> None:
    """Copy a program with its mode; raises OSError where that fails."""
    done = subprocess.run(["cp", "--", program, place], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(done.stderr.strip())
