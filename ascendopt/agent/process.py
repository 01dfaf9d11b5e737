"""The process of an agent: all that it starts ends with it, and what it says is cut.

It is the user's own program and works with the user's rights, its keys and the network. Where
namespaces work it sees only processes of its own and cannot change what the run judges by.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final

from ci.model.errors import InputError
from ci.system.sandbox import sandbox_level

MARK: Final = "ASCENDOPT_AGENT_RUN"
"""Environment variable that marks what an agent starts, where there are no namespaces."""

MOST_SAID: Final = 1 << 20
"""Bytes of an agent's output that are kept; the rest is read and thrown away."""


class AgentProcess:
    """A running agent; a context manager that ends it with everything that it started."""

    def __init__(
        self, command: Sequence[str], prompt: str, folder: Path, log: Path, fixed: Sequence[Path]
    ) -> None:
        """Start `command` in `folder`, with `prompt` as its input; `log` takes what it says.

        `fixed` are files and folders that it cannot change. Raises InputError when there is no
        such program.
        """
        program = shutil.which(command[0])
        if program is None:
            raise InputError(f"There is no program {command[0]}, which is to be the agent.")
        self._mark = uuid.uuid4().hex
        self._process = subprocess.Popen(
            [*_apart(folder, fixed), program, *command[1:]],
            cwd=folder,
            env=os.environ | {MARK: self._mark},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._threads = (
            threading.Thread(target=_tell, args=(self._process.stdin, prompt), daemon=True),
            threading.Thread(target=_keep, args=(self._process.stdout, log), daemon=True),
        )
        for thread in self._threads:
            thread.start()

    @property
    def code(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._process.poll()

    def __enter__(self) -> AgentProcess:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        while left := [*_marked(self._mark)]:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        for thread in self._threads:
            thread.join()


def _apart(folder: Path, fixed: Sequence[Path]) -> list[str]:
    """Return the words before the agent's own: namespaces where they work, nothing elsewhere."""
    if sandbox_level() != "bubblewrap":
        return []
    words = ["bwrap", "--unshare-pid", "--die-with-parent", "--dev-bind", "/", "/"]
    words += ["--proc", "/proc"]
    for path in fixed:
        words += ["--ro-bind", str(path.resolve()), str(path.resolve())]
    return [*words, "--bind", str(folder), str(folder), "--chdir", str(folder), "--"]


def _marked(mark: str) -> list[int]:
    """Return the processes that carry the mark and have not ended."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with contextlib.suppress(OSError):
                if wanted in (place / "environ").read_bytes().split(b"\0"):
                    found.append(int(place.name))
    return found


def _tell(stdin: IO[bytes], prompt: str) -> None:
    with contextlib.suppress(OSError):  # it need not listen
        stdin.write(prompt.encode())
    with contextlib.suppress(OSError):
        stdin.close()


def _keep(stdout: IO[bytes], log: Path) -> None:
    left = MOST_SAID
    with log.open("wb") as file:
        while said := stdout.read1(1 << 16):  # type: ignore[attr-defined]
            file.write(said[:left])
            file.flush()
            left -= len(said[:left])
