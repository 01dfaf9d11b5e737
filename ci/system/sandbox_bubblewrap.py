"""How `bwrap` shows a program its view of the machine's files."""

from __future__ import annotations

from pathlib import Path

from ci.system.view import KERNEL_PATHS, View

TMP_BYTES = 512 << 20
"""Size of the private /tmp, which lives in memory; a compiler's scratch files need 100 MiB."""


def bubblewrap_command(cwd: Path, view: View, filter_fd: int, gate: int = -1) -> list[str]:
    """The words before the program's own; see `sandbox.run`.

    `filter_fd` and `gate` are descriptors of the system-call filter and of what the program waits
    for, -1 for none.
    """
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL"]
    # Own folders of devices, processes and temporary files come first: a granted path may lie in
    # them.
    command += ["--dev", "/dev", "--size", str(TMP_BYTES), "--tmpfs", "/tmp"]
    if view.devices is not None:
        command += ["--proc", "/proc"]
    for path in view.listed:
        command += ["--dir", str(path)]
    for path in view.readable:
        if path != KERNEL_PATHS[0]:  # its own, of its own processes
            command += ["--ro-bind-try", str(path), str(path)]
    for path in view.devices or ():
        command += ["--dev-bind", str(path), str(path)]
    for path in view.writable:
        command += ["--bind", str(path), str(path)]
    # The folders around what is shown live in memory; nothing else limits what would be put there.
    command += ["--remount-ro", "/"]
    if view.devices is None:
        command += ["--remount-ro", "/dev"]
    command += ["--chdir", str(cwd)]
    if filter_fd >= 0:
        command += ["--seccomp", str(filter_fd)]
    if gate >= 0:
        command += ["--block-fd", str(gate)]
    return [*command, "--"]
