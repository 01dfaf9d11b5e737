"""Where in an operator's sources an address of its program comes from."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path


def operator_lines(program: Path, offsets: Sequence[str]) -> list[tuple[str, int]]:
    """Source place of each code address: the innermost frame in the operator's own sources.

    ('', 0) when there is none. Offsets are hexadecimal, from the program's start.
    """
    return list(_operator_lines(program, tuple(offsets)))


@lru_cache(maxsize=256)
def _operator_lines(program: Path, offsets: tuple[str, ...]) -> list[tuple[str, int]]:
    if not offsets:
        return []
    # A return address belongs to the instruction before it.
    asked = [f"{max(0, int(o, 16) - 1):#x}" for o in offsets]
    done = subprocess.run(
        ["addr2line", "-a", "-i", "-e", str(program), *asked],
        capture_output=True,
        text=True,
        errors="replace",
    )
    places: list[tuple[str, int]] = []
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            places.append(("", 0))
            continue
        file, _, number = line.partition(" ")[0].rpartition(":")
        at = max(file.find("op_kernel/"), file.find("op_host/"))
        if places and not places[-1][0] and at >= 0 and number.isdigit():
            places[-1] = (file[at:], int(number))
    return places if len(places) == len(offsets) else [("", 0)] * len(offsets)
