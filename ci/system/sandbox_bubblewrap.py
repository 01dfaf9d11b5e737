"""What `bwrap` is told to show a program."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

SYSTEM_PATHS = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/etc/alternatives", "/etc/ld.so.cache")
"""What a dynamically linked program and a compiler need. Holds no secrets on a sane machine."""

KERNEL_PATHS = ("/proc", "/sys")
"""What programs that talk to a driver read besides."""

TMP_BYTES = 512 << 20
"""Size of the private /tmp, which lives in memory; a compiler's scratch files need 100 MiB."""


def bubblewrap_command(
    cwd: Path,
    readable: Iterable[Path],
    writable: Iterable[Path],
    filter_fd: int,
    gate: int = -1,
    *,
    devices: Iterable[Path] | None = None,
) -> list[str]:
    """The words before the program's own; see `sandbox.run`.

    `filter_fd` and `gate` are descriptors of the system-call filter and of what the program waits
    for, -1 for none.
    """
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL"]
    for system in SYSTEM_PATHS:
        command += ["--ro-bind-try", system, system]
    command += ["--dev", "/dev", "--size", str(TMP_BYTES), "--tmpfs", "/tmp"]
    if devices is not None:
        command += ["--proc", "/proc", "--ro-bind", "/sys", "/sys"]
        for path in devices:
            command += ["--dev-bind", str(path), str(path)]
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
