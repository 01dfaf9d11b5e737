"""Runs a program that nobody trusts: no network, a read-only view of few files, hard limits.

Two levels, chosen once for the machine (`sandbox_level`):

- `bubblewrap`: own namespaces for files, processes, network and IPC. The program sees the
  system's libraries, the paths it is given, a private /tmp, no /proc, and nothing else.
- `limits only`: where `bwrap` is missing or user namespaces are forbidden. The program still has
  no network and starts no other program (a system-call filter forbids both), but can read what
  the user can read.

Both levels limit CPU and wall time, address space and file size, cap the output, and end the
whole process group.
"""

from __future__ import annotations

import contextlib
import math
import os
import platform
import selectors
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import IO, Literal, TypeAlias

Level: TypeAlias = Literal["bubblewrap", "limits only"]

OUTPUT_BYTES = 1 << 20
"""Of stdout and of stderr each, this much is kept; the rest is read and thrown away."""

SYSTEM_PATHS = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/etc/alternatives", "/etc/ld.so.cache")
"""What a dynamically linked program and a compiler need. Holds no secrets on a sane machine."""

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": "/tmp"}
"""All that a sandboxed program sees of the environment: no tokens, no home."""

TMP_BYTES = 512 << 20
"""Size of the private /tmp, which lives in memory; a compiler's scratch files need 100 MiB."""


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


@dataclass(frozen=True)
class Completed:
    """How a program ended. `signal` is 0 unless one ended it."""

    returncode: int
    signal: int
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool

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


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    readable: Sequence[Path] = (),
    writable: Sequence[Path] = (),
    limits: Limits,
    stdin: bytes = b"",
    level: Level | None = None,
) -> Completed:
    """Run `argv` in `cwd` and wait for its end, or end it.

    `readable` and `writable` are the files and folders that it may see, at their own paths;
    `cwd` must lie in one of them. `argv[0]` is an absolute path or a name on the system's PATH.
    Raises nothing for what the program does; that is in the answer.
    """
    chosen = level or sandbox_level()
    if chosen == "bubblewrap":
        process = _start_bubblewrap(argv, cwd, readable, writable, limits)
    else:
        child = str(Path(__file__).with_name("sandbox_child.py"))
        program = syscall_filter(may_spawn=limits.processes > 1).hex()
        command = [*_prlimit(limits), sys.executable, "-I", "-S", child, program, *argv]
        process = _spawn(command, cwd)
    return _completed(process, stdin, limits)


class Waiting:
    """A sandbox of its own for one run of one program, made before it is needed.

    Making the namespaces takes longer than a short program runs; it can go on while a compiler
    runs. What the program sees is what `run` shows it, at the time when it runs. Close it when the
    program is not to run after all.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        readable: Sequence[Path] = (),
        writable: Sequence[Path] = (),
        limits: Limits,
        level: Level | None = None,
    ) -> None:
        chosen = level or sandbox_level()
        self._limits = limits
        self._late = partial(
            run,
            list(argv),
            cwd=cwd,
            readable=readable,
            writable=writable,
            limits=limits,
            level=chosen,
        )
        self._maker = threading.current_thread()
        self._process: subprocess.Popen[bytes] | None = None
        self._gate = -1
        if chosen == "bubblewrap":
            gate, self._gate = os.pipe()
            try:
                self._process = _start_bubblewrap(argv, cwd, readable, writable, limits, gate)
            finally:
                os.close(gate)

    def run(self) -> Completed:
        """Let the program run, once, and wait for its end; what `run` answers."""
        if not self._maker.is_alive():
            self.close()  # it died with the thread that made it (--die-with-parent)
        process, self._process = self._process, None
        if process is None:
            return self._late()
        self._open_gate()
        return _completed(process, b"", self._limits)

    def close(self) -> None:
        """End what has not run."""
        process, self._process = self._process, None
        if process is None:
            return
        _end(process)
        self._open_gate()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()

    def _open_gate(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self._gate, b"go")
        os.close(self._gate)


def _start_bubblewrap(
    argv: Sequence[str],
    cwd: Path,
    readable: Sequence[Path],
    writable: Sequence[Path],
    limits: Limits,
    gate: int = -1,
) -> subprocess.Popen[bytes]:
    """The sandbox with its program, which waits until there is something to read from `gate`."""
    filter_fd = _filter_fd(limits)
    command = [*_prlimit(limits), *_bubblewrap(cwd, readable, writable, filter_fd, gate), *argv]
    try:
        return _spawn(command, cwd, [fd for fd in (filter_fd, gate) if fd >= 0])
    finally:
        if filter_fd >= 0:
            os.close(filter_fd)


def _spawn(command: Sequence[str], cwd: Path, fds: Sequence[int] = ()) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        cwd=cwd,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=fds,
    )


def _completed(process: subprocess.Popen[bytes], stdin: bytes, limits: Limits) -> Completed:
    started = time.monotonic()
    stdout, stderr, timed_out = _converse(process, stdin, started + limits.seconds * WALL_FACTOR)
    seconds = time.monotonic() - started
    code = process.returncode
    # bwrap, like a shell, tells a death by signal n as exit code 128 + n.
    number = -code if code < 0 else code - 128 if 128 < code <= 128 + 64 else 0
    if number == signal.SIGXCPU:
        timed_out = True
    return Completed(code, number, stdout, stderr, seconds, timed_out)


@cache
def sandbox_level() -> Level:
    """The strongest level that works on this machine, found by trying once."""
    if shutil.which("bwrap", path=ENVIRONMENT["PATH"]) is None:
        return "limits only"
    probe = ["/usr/bin/env", "true"]
    done = run(probe, cwd=Path("/usr"), limits=Limits(seconds=20), level="bubblewrap")
    return "bubblewrap" if done.ok else "limits only"


def _prlimit(limits: Limits) -> list[str]:
    """Limits that the kernel enforces, inherited by everything the program starts."""
    seconds = max(1, math.ceil(limits.seconds))
    return [
        "prlimit",
        f"--cpu={seconds}:{seconds + 1}",
        f"--as={limits.memory_bytes}",
        f"--fsize={limits.file_bytes}",
        "--core=0",
        "--nofile=256",
        "--",
    ]


def _bubblewrap(
    cwd: Path, readable: Iterable[Path], writable: Iterable[Path], filter_fd: int, gate: int = -1
) -> list[str]:
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL"]
    for system in SYSTEM_PATHS:
        command += ["--ro-bind-try", system, system]
    command += ["--dev", "/dev", "--size", str(TMP_BYTES), "--tmpfs", "/tmp"]
    for path in readable:
        command += ["--ro-bind-try", str(path), str(path)]
    for path in writable:
        command += ["--bind", str(path), str(path)]
    command += ["--chdir", str(cwd)]
    if filter_fd >= 0:
        command += ["--seccomp", str(filter_fd)]
    if gate >= 0:
        command += ["--block-fd", str(gate)]
    return [*command, "--"]


def _filter_fd(limits: Limits) -> int:
    """A pipe from which bwrap reads the system-call filter; -1 where there is none."""
    program = syscall_filter(may_spawn=limits.processes > 1)
    if not program:
        return -1
    read_end, write_end = os.pipe()
    os.write(write_end, program)
    os.close(write_end)
    return read_end


_FORBIDDEN = {
    # Linux x86-64 system-call numbers (arch/x86/entry/syscalls/syscall_64.tbl).
    "connect": 42, "socket": 41, "socketpair": 53, "bind": 49, "listen": 50, "accept": 43,
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "mount": 165,
    "umount2": 166, "setns": 308, "unshare": 272, "bpf": 321, "perf_event_open": 298,
    "userfaultfd": 323, "io_uring_setup": 425, "keyctl": 250, "add_key": 248,
    "init_module": 175, "finit_module": 313, "kexec_load": 246, "open_by_handle_at": 304,
}  # fmt: skip
_SPAWNING = {"clone": 56, "fork": 57, "vfork": 58, "clone3": 435, "setsid": 112, "setpgid": 109,
             "kill": 62}  # fmt: skip

_AUDIT_ARCH_X86_64 = 0xC000003E
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000


def syscall_filter(*, may_spawn: bool) -> bytes:
    """A seccomp program that kills at network, kernel and (unless allowed) process calls.

    Empty on machines other than x86-64, the only one that the simulator is built for.
    """
    if platform.machine() != "x86_64" or sys.platform != "linux":
        return b""
    numbers = sorted({**_FORBIDDEN, **({} if may_spawn else _SPAWNING)}.values())
    count = len(numbers)
    # (code, jump if true, jump if false, operand); the last two return kill and allow.
    steps = [(_LOAD, 0, 0, 4), (_JUMP_EQUAL, 0, count + 2, _AUDIT_ARCH_X86_64), (_LOAD, 0, 0, 0)]
    # Calls of the x32 ABI would slip past the numbers.
    steps.append((_JUMP_AT_LEAST, count + 1, 0, 0x40000000))
    steps += [(_JUMP_EQUAL, count - i, 0, number) for i, number in enumerate(numbers)]
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _KILL)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


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
    try:
        process.wait(timeout=max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        timed_out = True
    _end(process)
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()
    stdout, stderr = (bytes(buffer) for buffer in kept.values())
    return stdout, stderr, timed_out


def _feed(stream: IO[bytes], left: memoryview) -> memoryview:
    """Write what the pipe takes; a program that reads no further loses the rest."""
    try:
        return left[os.write(stream.fileno(), left[: 1 << 16]) :]
    except BrokenPipeError:
        return left[:0]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the whole group: also what the program may have left running behind itself."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
