"""Where the wall time of an evaluation goes, for whoever asks (`ascendopt bench machine`).

Code that starts a program, or verifies, says so with `booked`; it costs nothing unless a `Ledger`
has been opened in the same thread.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TypeAlias

Part: TypeAlias = Literal["compile", "tiling", "run", "verify"]

PROGRAMS: tuple[Part, ...] = ("compile", "tiling", "run")
"""Parts that are programs of their own, each started in a sandbox."""


class Ledger:
    """Seconds of wall time by part, and how often each was booked."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.times: defaultdict[str, int] = defaultdict(int)
        self.ready: defaultdict[str, int] = defaultdict(int)
        """How often the program's sandbox had been made before."""
        self.machine: defaultdict[str, float] = defaultdict(float)
        """CPU seconds of the simulated machine's program by its own phases."""

    def add(self, other: Ledger) -> None:
        """Sum another ledger into this one."""
        for part, seconds in other.seconds.items():
            self.seconds[part] += seconds
            self.times[part] += other.times[part]
            self.ready[part] += other.ready[part]
        for phase, seconds in other.machine.items():
            self.machine[phase] += seconds


_open: ContextVar[Ledger | None] = ContextVar("ledger", default=None)


@contextmanager
def ledger() -> Iterator[Ledger]:
    """Open a ledger for what this thread does inside the block."""
    opened = Ledger()
    token = _open.set(opened)
    try:
        yield opened
    finally:
        _open.reset(token)


@contextmanager
def booked(part: Part, *, ready: bool = False) -> Iterator[None]:
    """Book the block's wall time under `part`; `ready`: no sandbox is made in it."""
    current = _open.get()
    if current is None:
        yield
        return
    started = time.monotonic()
    try:
        yield
    finally:
        current.seconds[part] += time.monotonic() - started
        current.times[part] += 1
        current.ready[part] += ready


def book_machine(seconds: Mapping[str, float]) -> None:
    """Book what a run of the simulated machine says of its own CPU time, by phase."""
    current = _open.get()
    if current is not None:
        for phase, spent in seconds.items():
            current.machine[phase] += spent
