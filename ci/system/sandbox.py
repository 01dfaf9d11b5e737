"""Runs a program that nobody trusts: no network, a read-only view of few files, hard limits.

Three levels (`sandbox_level`); what a program may read is the same list at each (`view.py`):

- `bubblewrap`: own namespaces for files, processes, network and IPC. The program sees the
  system's libraries, the paths it is given, a private /tmp, no /proc, and nothing else.
- `landlock`: where `bwrap` is missing or user namespaces are forbidden. The kernel lets the program
  open the same paths only, and no other process's memory or environment. It can still see that
  files exist.
- `limits`: where the kernel has no Landlock either. The program can read and write what the
  user can.

At each level a system-call filter forbids the network and other programs, CPU and wall time,
address space and file size are limited, the output is cut, the environment is empty, and the whole
process group is ended.
"""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Literal, TypeAlias, get_args

from ci.model.environment import SANDBOX_VARIABLE
from ci.model.errors import EnvironmentProblem
from ci.system.sandbox_bubblewrap import bubblewrap_command
from ci.system.sandbox_child import child_command
from ci.system.sandbox_filter import syscall_filter
from ci.system.scratch import scratch
from ci.system.view import Readable, View
from ci.system.written import bounded

Level: TypeAlias = Literal["bubblewrap", "landlock", "limits"]

STRONGEST_FIRST: tuple[Level, ...] = get_args(Level)


OUTPUT_BYTES = 1 << 20
"""Output bytes of stdout and of stderr each, this much is kept; the rest is read and thrown
away."""


ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C",
    "TMPDIR": "/tmp",
    # Without one Python asks the name service for it, over a socket that the filter kills at.
    "HOME": "/nonexistent",
    # Numeric libraries would start threads when they are loaded, which one process may not.
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
}
"""All that a sandboxed program sees of the environment: no tokens, nobody's home."""

WALL_FACTOR = 3.0
"""Wall time over CPU time that a program is granted: a busy machine does not end it, sleep does."""


@dataclass(frozen=True)
class Limits:
    """What a program may use. `processes=1` forbids to start any other process or thread.

    `seconds` is CPU time, which does not depend on what else the machine does; wall time may be
    `WALL_FACTOR` times that.
    """

    seconds: float = 60.0
    memory_bytes: int = 4 << 30
    processes: int = 1
    file_bytes: int = 1 << 30
    written_bytes: int = 16 << 30
    """Bytes on the disk, of all files in the folders that it may write to."""
    files: int = 256
    """Open at once, by one process."""


@dataclass(frozen=True)
class Completed:
    """How a program ended. `signal` is 0 unless one ended it."""

    returncode: int
    signal: int
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool

    @classmethod
    def of(
        cls, code: int, stdout: bytes, stderr: bytes, seconds: float, timed_out: bool
    ) -> Completed:
        """What an exit code says: bwrap, like a shell, tells a death by signal n as 128 + n."""
        number = -code if code < 0 else code - 128 if 128 < code <= 128 + 64 else 0
        late = timed_out or number == signal.SIGXCPU
        return cls(code, number, stdout, stderr, seconds, late)

    @property
    def ok(self) -> bool:
        """It ended by itself with exit code 0."""
        return self.returncode == 0 and not self.timed_out

    def ending(self) -> str:
        """How it ended, in words that finish a sentence: 'was killed by SIGSEGV'."""
        if self.timed_out:
            return f"was stopped after {self.seconds:.1f} s"
        if self.signal == signal.SIGSYS:
            return "was stopped at a forbidden system call (network, process or kernel interface)"
        if self.signal == signal.SIGXFSZ:
            return "wrote a file larger than its limit"
        if self.signal:
            return f"was killed by {signal.Signals(self.signal).name}"
        return f"ended with exit code {self.returncode}"


def nothing() -> None:
    """What there is to do meanwhile where nobody says anything."""


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    readable: Sequence[Readable] = (),
    writable: Sequence[Path] = (),
    limits: Limits,
    stdin: bytes = b"",
    level: Level | None = None,
    devices: Sequence[Path] | None = None,
    meanwhile: Callable[[], object] = nothing,
) -> Completed:
    """Run `argv` in `cwd` and wait for its end, or end it.

    `readable` and `writable` are the files and folders that it may see, at their own paths
    (`view.py`); `cwd` must lie in one of them. `argv[0]` is an absolute path or a name on the
    system's PATH.
    `devices`, also when empty, are nodes of /dev for programs that talk to a driver and among each
    other: these see /proc and /sys too, and no system-call filter stops their sockets. In
    bubblewrap these lead nowhere, as there is no network; at the other levels they do.
    `meanwhile` is called once the program is on its way; its output waits until that is done.
    Raises EnvironmentProblem where the sandbox itself cannot be built; nothing for what the program
    does, which is in the answer.
    """
    chosen = level or sandbox_level()
    if chosen == "bubblewrap":
        process = start_bubblewrap(argv, cwd, readable, writable, limits, devices=devices)
        with bounded(process, writable, limits.written_bytes):
            return completed(process, stdin, limits, meanwhile)
    with scratch("tmp") as own:
        process = start_confined(
            argv, cwd, readable, writable, limits, chosen, Path(own), devices=devices
        )
        with bounded(process, [*writable, Path(own)], limits.written_bytes):
            return completed(process, stdin, limits, meanwhile)


def start_bubblewrap(
    argv: Sequence[str],
    cwd: Path,
    readable: Sequence[Readable],
    writable: Sequence[Path],
    limits: Limits,
    gate: int = -1,
    *,
    quiet: bool = False,
    devices: Sequence[Path] | None = None,
) -> subprocess.Popen[bytes]:
    """The program in namespaces; it waits until there is something to read from `gate`.

    `quiet` throws away what it says on stderr.
    """
    filter_fd = _filter_fd(limits) if devices is None else -1
    inside = bubblewrap_command(cwd, View.of(readable, writable, devices), filter_fd, gate)
    command = [*_prlimit(limits), *inside, *argv]
    try:
        return _spawn(command, cwd, [fd for fd in (filter_fd, gate) if fd >= 0], quiet=quiet)
    finally:
        if filter_fd >= 0:
            os.close(filter_fd)


def start_confined(
    argv: Sequence[str],
    cwd: Path,
    readable: Sequence[Readable],
    writable: Sequence[Path],
    limits: Limits,
    level: Level,
    own_tmp: Path,
    *,
    quiet: bool = False,
    devices: Sequence[Path] | None = None,
) -> subprocess.Popen[bytes]:
    """The program without namespaces; `own_tmp` is the folder for its temporary files."""
    may_spawn = limits.processes > 1
    view = View.of(readable, writable, devices)
    program = b"" if devices is not None else syscall_filter(may_spawn=may_spawn)
    command = [*_prlimit(limits), *child_command(view, level, own_tmp, program), *argv]
    return _spawn(command, cwd, own_tmp=own_tmp, quiet=quiet)


def _spawn(
    command: Sequence[str],
    cwd: Path,
    fds: Sequence[int] = (),
    *,
    own_tmp: Path = Path("/tmp"),
    quiet: bool,
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        cwd=cwd,
        env={**ENVIRONMENT, "TMPDIR": str(own_tmp)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if quiet else subprocess.PIPE,
        start_new_session=True,
        pass_fds=fds,
    )


def completed(
    process: subprocess.Popen[bytes],
    stdin: bytes,
    limits: Limits,
    meanwhile: Callable[[], object] = nothing,
) -> Completed:
    """How a program ended that has been started; its limits begin here."""
    started = time.monotonic()
    try:
        meanwhile()
    except BaseException:
        drop(process)
        raise
    stdout, stderr, timed_out = _converse(process, stdin, started + limits.seconds * WALL_FACTOR)
    seconds = time.monotonic() - started
    return Completed.of(process.returncode, stdout, stderr, seconds, timed_out)


def sandbox_level() -> Level:
    """The level that $ASCENDOPT_SANDBOX names, else the strongest that works on this machine.

    Raises EnvironmentProblem for a name that is none, and for a level that does not work here.
    """
    named = os.environ.get(SANDBOX_VARIABLE, "")
    if not named:
        return _strongest()
    level = next((one for one in STRONGEST_FIRST if one == named), None)
    if level is None:
        raise EnvironmentProblem(
            f"{SANDBOX_VARIABLE} is '{named}'; it can be {', '.join(STRONGEST_FIRST)}."
        )
    if not _works_here(level):
        raise EnvironmentProblem(
            f"{SANDBOX_VARIABLE} asks for the sandbox level '{level}', which does not work on this"
            f" machine; '{_strongest()}' is the strongest that does."
        )
    return level


def _strongest() -> Level:
    return next((level for level in STRONGEST_FIRST if _works_here(level)), "limits")


@cache
def _works_here(level: Level) -> bool:
    if level == "bubblewrap" and shutil.which("bwrap", path=ENVIRONMENT["PATH"]) is None:
        return False
    return works(level)


def works(level: Level) -> bool:
    """Whether a program runs at this level here."""
    probe = ["/usr/bin/env", "true"]
    return run(probe, cwd=Path("/usr"), limits=Limits(seconds=20), level=level).ok


def _prlimit(limits: Limits) -> list[str]:
    """Limits that the kernel enforces, inherited by everything the program starts."""
    seconds = max(1, math.ceil(limits.seconds))
    return [
        "prlimit",
        f"--cpu={seconds}:{seconds + 1}",
        f"--as={limits.memory_bytes}",
        f"--fsize={limits.file_bytes}",
        "--core=0",
        f"--nofile={limits.files}",
        "--",
    ]


def _filter_fd(limits: Limits) -> int:
    """A pipe from which bwrap reads the system-call filter; -1 where there is none."""
    program = syscall_filter(may_spawn=limits.processes > 1)
    if not program:
        return -1
    read_end, write_end = os.pipe()
    os.write(write_end, program)
    os.close(write_end)
    return read_end


def _converse(
    process: subprocess.Popen[bytes], stdin: bytes, deadline: float
) -> tuple[bytes, bytes, bool]:
    """Feed `stdin`, drain both outputs, wait; end the process group at the deadline."""
    assert process.stdin and process.stdout and process.stderr
    kept = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    timed_out = False
    left = memoryview(stdin)
    with selectors.DefaultSelector() as selector:
        for fd in kept:
            os.set_blocking(fd, False)
            selector.register(fd, selectors.EVENT_READ)
        os.set_blocking(process.stdin.fileno(), False)
        if left:
            selector.register(process.stdin, selectors.EVENT_WRITE)
        else:
            process.stdin.close()
        while selector.get_map():
            wait = deadline - time.monotonic()
            if wait <= 0:
                timed_out = True
                break
            for key, _ in selector.select(wait):
                if key.fileobj is process.stdin:
                    left = _feed(process.stdin, left)
                    if not left:
                        selector.unregister(process.stdin)
                        process.stdin.close()
                    continue
                chunk = os.read(key.fd, 1 << 16)
                if not chunk:
                    selector.unregister(key.fd)
                    continue
                kept[key.fd] += chunk[: max(0, OUTPUT_BYTES - len(kept[key.fd]))]
    timed_out |= not _ends(process, deadline)
    end(process)
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()
    stdout, stderr = (bytes(buffer) for buffer in kept.values())
    return stdout, stderr, timed_out


def _ends(process: subprocess.Popen[bytes], deadline: float) -> bool:
    """Wait for the end of a process; False when it still runs at the deadline.

    `Popen.wait` with a timeout looks every one or more milliseconds, which is as long as some
    programs take.
    """
    ended = os.pidfd_open(process.pid)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(ended, selectors.EVENT_READ)
            return bool(selector.select(max(0.0, deadline - time.monotonic())))
    finally:
        os.close(ended)


def _feed(stream: IO[bytes], left: memoryview) -> memoryview:
    """Write what the pipe takes; a program that reads no further loses the rest."""
    try:
        return left[os.write(stream.fileno(), left[: 1 << 16]) :]
    except BrokenPipeError:
        return left[:0]


def drop(process: subprocess.Popen[bytes]) -> None:
    """End it, whatever it has said."""
    end(process)
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill the whole group: also what the program may have left running behind itself."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
