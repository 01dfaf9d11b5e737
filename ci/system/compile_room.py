"""Places for compilations of a candidate's sources, which can be made before there are any.

Candidates of one operator are compiled with equal arguments. So while one is compiled, the place
for the next is made: a folder of its own, and a sandbox that shows it and is used once.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ci.system.candidate_compiler import COMPILE_LIMITS, compile_command, demand_compiled
from ci.system.ledger import booked
from ci.system.sandbox import nothing, run
from ci.system.waiting import Room, Waiting

MOST_SPARE = 3
"""Places that wait: for a host side, for kernels of vector and of cube cores."""


@dataclass(frozen=True)
class Compilation:
    """What a compiler is asked, whatever the sources say."""

    inside: str
    """The operator's folder, relative to the top of the place."""
    arguments: Callable[[Path], Sequence[str]]
    """The compiler's, by the top of the place."""
    readable: Sequence[Path]
    """What it sees next to the place."""

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Two of one key can use each other's place. A forked process makes its own."""
        return os.getpid(), self.inside, *self.arguments(Path()), *self.readable


class CompileRoom(Room):
    """Folder and sandbox of one compilation; the compiler can read all of the folder."""

    def __init__(self, asked: Compilation, *, ahead: bool = False) -> None:
        """`ahead`: make the sandbox now, for sources that come later."""
        super().__init__("build")
        self.place = self.top / asked.inside
        """The operator's folder, where the compiler works and can write."""
        self.place.mkdir(parents=True, exist_ok=True)
        self._command = compile_command(asked.arguments(self.top))
        self._readable = [self.top, *asked.readable]
        if ahead:
            self._waiting = Waiting(
                self._command,
                cwd=self.place,
                readable=self._readable,
                writable=[self.place],
                limits=COMPILE_LIMITS,
            )

    def compile(self, side: str, shared: str, meanwhile: Callable[[], object] = nothing) -> None:
        """Compile what was laid; `meanwhile` is called while the compiler works.

        Raises TrialFailure(COMPILE_ERROR); `side` says in words what was compiled, `shared` what
        stands for the top of the place in names of shared sources.
        """
        if self._waiting is not None:
            with booked("compile", ready=True):
                done = self._waiting.run(meanwhile)
        else:
            with booked("compile"):
                done = run(
                    self._command,
                    cwd=self.place,
                    readable=self._readable,
                    writable=[self.place],
                    limits=COMPILE_LIMITS,
                    meanwhile=meanwhile,
                )
        demand_compiled(done, side, (self.top, shared))


class CompileRooms:
    """Rooms made ahead, at most one of each kind of compilation. Safe for threads."""

    def __init__(self) -> None:
        self._spare: dict[tuple[object, ...], CompileRoom] = {}
        self._lock = threading.Lock()
        weakref.finalize(self, _close, self._spare, os.getpid())

    def take(self, asked: Compilation) -> CompileRoom:
        """A room that nobody has used; the caller closes it."""
        with self._lock:
            known = self._spare.pop(asked.key, None)
        return known or CompileRoom(asked)

    def prepare(self, asked: Compilation) -> None:
        """Make a room for the next compilation of this kind, unless one waits."""
        with self._lock:
            if asked.key in self._spare:
                return
            old = [*self._spare][: 1 + len(self._spare) - MOST_SPARE]
            dropped = [self._spare.pop(key) for key in old]
            self._spare[asked.key] = CompileRoom(asked, ahead=True)
        for room in dropped:
            room.close()


def _close(spare: dict[tuple[object, ...], CompileRoom], maker: int) -> None:
    for room in spare.values() if os.getpid() == maker else ():
        room.close()
    spare.clear()
