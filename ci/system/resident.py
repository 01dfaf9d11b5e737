"""A sandboxed program that stays and is talked to, where starting it again each time is dear."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import subprocess
import threading
import time
import weakref
from collections.abc import Iterable, Sequence
from pathlib import Path

from ci.system.sandbox import (
    Completed,
    Level,
    Limits,
    end,
    sandbox_level,
    start_bubblewrap,
    start_confined,
)
from ci.system.scratch import scratch
from ci.system.view import Readable
from ci.system.written import bounded

_CHUNK = 1 << 20
# Between the end of a program's output and its own.
_FAREWELL_S = 5.0


class Silent(Exception):
    """The program ended or was ended instead of answering; the text finishes a sentence."""


class Resident:
    """A program that is confined as `sandbox.run` does it, and reached by its standard streams.

    What it says on stderr is thrown away. It ends with `close`, with this object, or with the
    thread that made it.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        readable: Sequence[Readable],
        limits: Limits,
        level: Level | None = None,
    ) -> None:
        """`limits.seconds` is the CPU time of its whole life; a question has its own deadline."""
        chosen = level or sandbox_level()
        left = contextlib.ExitStack()
        if chosen == "bubblewrap":  # what it writes is in a folder of bounded size
            self._process = start_bubblewrap(argv, cwd, readable, [], limits, quiet=True)
        else:
            place = Path(left.enter_context(scratch("tmp")))
            self._process = start_confined(
                argv, cwd, readable, [], limits, chosen, place, quiet=True
            )
            left.enter_context(bounded(self._process, [place], limits.written_bytes))
        assert self._process.stdin and self._process.stdout
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        for fd in (self._in, self._out):
            os.set_blocking(fd, False)
            with contextlib.suppress(OSError):  # the user has many pipes already
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _CHUNK)
        self._asked = time.monotonic()
        self._maker = threading.current_thread()
        self._close = weakref.finalize(self, _ended, self._process, left)

    @property
    def alive(self) -> bool:
        """Whether it can still be asked something."""
        return self._maker.is_alive() and self._process.poll() is None

    def tell(self, parts: Iterable[bytes | memoryview], deadline: float) -> None:
        """Write all parts; `deadline` on the monotonic clock. Raises Silent."""
        self._asked = time.monotonic()
        for part in parts:
            left = memoryview(part).cast("B")
            while left:
                self._wait(deadline, writing=True)
                try:
                    left = left[os.write(self._in, left[:_CHUNK]) :]
                except BlockingIOError:
                    continue
                except BrokenPipeError:
                    raise self._silent(timed_out=False) from None

    def hear(self, count: int, deadline: float) -> bytearray:
        """The next `count` bytes that it says; `deadline` on the monotonic clock. Raises Silent."""
        heard = bytearray(count)
        left = memoryview(heard)
        while left:
            self._wait(deadline, writing=False)
            got = os.readv(self._out, [left])
            if not got:
                raise self._silent(timed_out=False)
            left = left[got:]
        return heard

    def hear_until(self, ending: bytes, most: int, deadline: float) -> bytes:
        """What it says up to and with `ending`, which is the last for now; at most `most` bytes.

        Raises Silent, also when it says more.
        """
        heard = bytearray()
        while not heard.endswith(ending):
            self._wait(deadline, writing=False)
            got = os.read(self._out, _CHUNK)
            if not got or len(heard) > most:
                raise self._silent(timed_out=False)
            heard += got
        return bytes(heard)

    def close(self) -> None:
        """End it; nothing when it has ended."""
        self._close()

    def _wait(self, deadline: float, *, writing: bool) -> None:
        poll = select.poll()
        fd = self._in if writing else self._out
        poll.register(fd, select.POLLOUT if writing else select.POLLIN)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1e3):
            raise self._silent(timed_out=True)

    def _silent(self, *, timed_out: bool) -> Silent:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0 if timed_out else _FAREWELL_S)
        code = self._process.poll()
        self.close()
        if code is None and not timed_out:
            return Silent("closed its output")
        seconds = time.monotonic() - self._asked
        return Silent(Completed.of(code or 0, b"", b"", seconds, timed_out).ending())


def _ended(process: subprocess.Popen[bytes], left: contextlib.ExitStack) -> None:
    end(process)
    for stream in (process.stdin, process.stdout):
        assert stream is not None
        stream.close()
    left.close()
