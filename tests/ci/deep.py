"""A folder that is deeper than Python's own walks go, for the tests of what looks through trees."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def deep_folder(top: Path, levels: int = 1500) -> Iterator[None]:
    """`levels` folders, one in the other, in `top`; a header is in the innermost one."""
    try:
        with contextlib.chdir(top):
            for _ in range(levels):
                Path("d").mkdir()
                os.chdir("d")
            Path("deep.h").write_text("int deep;\n")
        yield
    finally:  # pytest's own removal would fail
        subprocess.run(["rm", "-rf", str(top / "d")], check=True)
