"""Where in an operator's sources an address of its kernel comes from.

binutils' addr2line says it. A kernel is what its author made of it, so the reader of its debugging
information runs in a sandbox like the kernel itself.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from ci.system.resident import Resident, Silent
from ci.system.sandbox import Limits
from ci.system.waiting import beside

LIMITS = Limits(seconds=60, memory_bytes=2 << 30, file_bytes=1 << 20)
"""Limits of one kernel's reader, over its whole life; a question takes a millisecond."""

ANSWER_SECONDS = 20.0
"""Wall time of one answer: the sandbox may still have to be made, and others are at work."""

MOST_BYTES = 4 << 20
"""A longer answer is none."""

MOST_READERS = 4
"""Kernels whose readers stay: those of an operator's cases."""

_BEHIND = 1 << 48  # no program has an address from here on
_NOTE = re.compile(r" \(discriminator \d+\)$")  # what addr2line may add to a place
_END = "0xffffffffffffffff"  # asked last
_ENDING = f"{_END}\n??:0\n".encode()


class _Reader:
    """addr2line on one kernel: started next to whoever asks for it, ended when nobody holds it."""

    def __init__(self, program: Path) -> None:
        folder = program.parent
        command = ["addr2line", "-a", "-i", "-e", str(program)]
        self._resident = beside(
            lambda: Resident(command, cwd=folder, readable=[folder], limits=LIMITS)
        )
        self._lock = threading.Lock()

    @property
    def alive(self) -> bool:
        return not self._resident.done() or self._resident.result().alive

    def ask(self, addresses: Sequence[str]) -> str:
        """What it says of them; '' when it says nothing that ends."""
        text = "".join(f"{address}\n" for address in (*addresses, _END))
        with self._lock:
            resident, deadline = self._resident.result(), time.monotonic() + ANSWER_SECONDS
            try:
                resident.tell([text.encode()], deadline)
                said = resident.hear_until(_ENDING, MOST_BYTES, deadline)
            except Silent:
                resident.close()
                return ""
        return said[: -len(_ENDING)].decode(errors="replace")


_readers: dict[tuple[int, Path], _Reader] = {}
"""The readers by process, since a forked one must not share them, and kernel; the latest last."""

_lock = threading.Lock()


def expect_lines(program: Path) -> None:
    """Have somebody look into a kernel that will be asked about; goes on next to."""
    _reader(program)


def _reader(program: Path) -> _Reader:
    key = os.getpid(), program
    with _lock:
        known = _readers.pop(key, None)
        _readers[key] = known if known is not None and known.alive else _Reader(program)
        dropped = [_readers.pop(old) for old in [*_readers][:-MOST_READERS]]
        found = _readers[key]
    if dropped:
        beside(dropped.clear)  # ending one takes longer than asking
    return found


def operator_lines(program: Path, offsets: Sequence[str]) -> list[tuple[str, int]]:
    """Source place of each code address: the innermost frame in the operator's own sources.

    ('', 0) when there is none. Offsets are hexadecimal, from the program's start.
    """
    return [found[0] if found else ("", 0) for found in operator_frames(program, offsets)]


def operator_frames(program: Path, offsets: Sequence[str]) -> list[tuple[tuple[str, int], ...]]:
    """The source places of each code address, all within the operator's own sources.

    The innermost comes first, then the calls that were written out around it. Offsets are
    hexadecimal, from the program's start.
    """
    return list(_operator_frames(program, tuple(offsets)))


def innermost_lines(program: Path, offsets: Sequence[str]) -> list[tuple[str, int]]:
    """File and line of each code address, whoever wrote it; ('', 0) where it is not known."""
    found = [frames[0] if frames else ("", 0) for frames in _frames(program, tuple(offsets))]
    return found if len(found) == len(offsets) else [("", 0)] * len(offsets)


def _frames(program: Path, offsets: tuple[str, ...]) -> list[list[tuple[str, int]]]:
    """The frames of each code address, the innermost first."""
    # A return address belongs to the instruction before it.
    asked = [f"{min(max(0, int(o, 16) - 1), _BEHIND):#x}" for o in offsets]
    found: list[list[tuple[str, int]]] = []
    for line in _reader(program).ask(asked).splitlines():
        if line.startswith("0x"):
            found.append([])
            continue
        file, _, number = _NOTE.sub("", line).rpartition(":")
        if found and number.isdigit():
            found[-1].append((file, int(number)))
    return found


@lru_cache(maxsize=256)
def _operator_frames(
    program: Path, offsets: tuple[str, ...]
) -> tuple[tuple[tuple[str, int], ...], ...]:
    if not offsets:
        return ()
    places = tuple(_own(frames) for frames in _frames(program, offsets))
    return places if len(places) == len(offsets) else ((),) * len(offsets)


def _own(frames: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    starts = (max(file.find("op_kernel/"), file.find("op_host/")) for file, _ in frames)
    return tuple(
        (file[at:], number) for at, (file, number) in zip(starts, frames, strict=True) if at >= 0
    )
