"""Counts the instructions of a built kernel's basic blocks, for the scalar unit's clock.

The compiler calls a hook at the start of every basic block (`-fsanitize-coverage=trace-pc`). What
follows each of these calls up to the next one is counted here once, when the kernel is built; the
machine looks the count up by the hook's return address.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import numpy as np

from ci.model.errors import EnvironmentProblem

TABLE: Final = "kernel.blocks"
"""File beside kernel.so: 16 bits for each byte of its code, the count at a return address."""

MOST: Final = (1 << 16) - 1
"""Instructions of a block that are counted; none written by hand comes near."""

HOOK: Final = "__sanitizer_cov_trace_pc"
_WATCH: Final = "__tsan_"
_LEAVES: Final = frozenset(("jmp", "ret", "jmpq", "retq", "ud2"))
_FREE: Final = ("nop", "endbr", "cs", "data16", "push", "pop")
"""Padding, and what only keeps this processor's registers over a call."""


def write_block_table(kernel: Path) -> None:
    """Write the table of `kernel` beside it. Raises EnvironmentProblem without objdump."""
    command = ["objdump", "-d", "--no-show-raw-insn", str(kernel)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    except OSError as problem:
        raise EnvironmentProblem(f"objdump (of binutils) does not start: {problem}") from problem
    counts = block_lengths(done.stdout.splitlines())
    table = np.zeros(max(counts, default=0) + 1, "<u2")
    for offset, count in counts.items():
        table[offset] = max(1, min(count, MOST))
    kernel.with_name(TABLE).write_bytes(table.tobytes())


def block_lengths(listing: Iterable[str]) -> dict[int, int]:
    """Instructions by the address behind each call of the hook, from objdump's listing.

    Calls count nothing: what an instruction of the chip costs is the machine's to say, and the
    sanitizer's hooks, with the move of the address that they take, are not the kernel's.
    """
    counts: dict[int, int] = {}
    start: int | None = None
    opening = False
    for line in listing:
        address, found, text = line.partition(":\t")
        if not found:
            continue
        name, _, rest = text.partition(" ")
        if opening:
            start, opening = int(address, 16), False
            counts[start] = 0
        if name.startswith("call"):
            if HOOK in rest:
                opening = True
            elif start is not None and _WATCH in rest:
                counts[start] = max(0, counts[start] - 1)
            continue
        if start is None:
            continue
        if not name.startswith(_FREE):
            counts[start] += 1
        if name in _LEAVES:
            start = None
    return counts
