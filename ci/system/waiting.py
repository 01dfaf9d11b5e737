"""Sandboxes that are made before their programs are there, and places that have one.

Making the namespaces takes longer than a short program runs. It goes on next to, while a compiler
runs.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from ci.system.sandbox import (
    Completed,
    Level,
    Limits,
    completed,
    drop,
    nothing,
    run,
    sandbox_level,
    start_bubblewrap,
)
from ci.system.scratch import scratch
from ci.system.view import Readable
from ci.system.written import bounded

T = TypeVar("T")


class Waiting:
    """A sandbox of its own for one run of one program, made before it is needed.

    Making the namespaces takes longer than a short program runs; it goes on next to the thread that
    asks for it, while a compiler runs. What the program sees is what `run` shows it, at the time
    when it runs. Close it when the program is not to run after all.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        readable: Sequence[Readable] = (),
        writable: Sequence[Path] = (),
        limits: Limits,
        level: Level | None = None,
    ) -> None:
        chosen = level or sandbox_level()
        self._limits, self._writable = limits, writable
        self._late = partial(
            run,
            list(argv),
            cwd=cwd,
            readable=readable,
            writable=writable,
            limits=limits,
            level=chosen,
        )
        self._made: Future[subprocess.Popen[bytes]] | None = None
        self._gate = -1
        if chosen == "bubblewrap":
            gate, self._gate = os.pipe()

            def make() -> subprocess.Popen[bytes]:
                try:
                    return start_bubblewrap(argv, cwd, readable, writable, limits, gate)
                finally:
                    os.close(gate)

            self._made = beside(make)

    def run(self, meanwhile: Callable[[], object] = nothing) -> Completed:
        """Let the program run, once, and wait for its end; what `run` answers."""
        made, self._made = self._made, None
        if made is None:
            return self._late(meanwhile=meanwhile)
        process = made.result()
        self._open_gate()
        with bounded(process, self._writable, self._limits.written_bytes):
            return completed(process, b"", self._limits, meanwhile)

    def close(self) -> None:
        """End what has not run."""
        made, self._made = self._made, None
        if made is None:
            return
        drop(made.result())
        self._open_gate()

    def _open_gate(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self._gate, b"go")
        os.close(self._gate)


def beside(make: Callable[[], T]) -> Future[T]:
    """Make a sandbox in a thread of this process that does nothing else.

    A sandbox ends with the thread that made it (--die-with-parent): this one lives as long as the
    process.
    """
    return _keeper(os.getpid()).submit(make)


@cache
def _keeper(process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, f"sandboxes-{process}")


class Room:
    """A folder for one program, and its sandbox where that is made ahead; a context that removes
    both."""

    def __init__(self, prefix: str, needed_bytes: int = 0) -> None:
        self._scratch = scratch(prefix, needed_bytes)
        self.top = Path(self._scratch.name).resolve()
        """The folder; what of it the program sees, whoever made the room says."""
        self._waiting: Waiting | None = None

    def close(self) -> None:
        """End the sandbox if it still waits, and remove the folder."""
        if self._waiting is not None:
            self._waiting.close()
        self._scratch.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
