"""A worker's process as whoever asks sees it: started with a bare environment, ended surely."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ci.backend.pool import base
from ci.backend.pool.base import Answer, Sent, WorkerLate, WorkerLost
from ci.model.environment import passed_on

"""All that a worker sees of the environment: programs, caches, toolkit. Never a token or a key."""

_PIECE: Final = 1 << 16
_LOOK_S: Final = 0.5
"""How often whoever waits for an answer looks whether the process was ended."""

_TOP: Final = Path(base.__file__).parents[base.__name__.count(".")]
"""Where this program is imported from."""


class WorkerProcess:
    """One process at work; a new one is started when the last is gone."""

    def __init__(
        self, environment: Mapping[str, str] | None = None, keep_open: Sequence[int] = ()
    ) -> None:
        """`environment` is added to what is passed on; `keep_open` are files that it holds too."""
        passed = passed_on()
        places = [str(_TOP), passed.get("PYTHONPATH", "")]
        passed["PYTHONPATH"] = os.pathsep.join(filter(None, places))
        self._environment = passed | dict(environment or {})
        self._keep_open = tuple(keep_open)
        self._process: subprocess.Popen[bytes] | None = None
        self._asking = threading.RLock()

    @property
    def pid(self) -> int | None:
        """Return the pid of the process at work."""
        return self._process.pid if self._process is not None else None

    def ask(self, sent: Sent, seconds: float) -> Answer:
        """The answer. Raises WorkerLost, and ends the process then; also when another thread ends
        it meanwhile."""
        with self._asking:
            process = self._started()
            try:
                return self._asked(process, sent, seconds)
            finally:
                if self._process is not process:
                    _close_pipes(process)

    def _asked(self, process: subprocess.Popen[bytes], sent: Sent, seconds: float) -> Answer:
        try:
            assert process.stdin is not None
            process.stdin.write(sent.model_dump_json().encode() + b"\n")
            process.stdin.flush()
            said = Answer.model_validate_json(self._line(process, seconds))
        except TimeoutError as late:
            self.close()
            raise WorkerLate(f"It was not done after {seconds:g} s") from late
        except OSError as broken:
            raise WorkerLost(self._death()) from broken
        except ValidationError as nonsense:
            raise WorkerLost(self._death()) from nonsense
        if said.number != sent.number:
            self.close()
            raise WorkerLost("the worker answered another question")
        return said

    def close(self) -> None:
        """End the process and what it started, whatever it does."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        # Whoever waits at a pipe is not woken when it is closed, and closes it itself.
        if self._asking.acquire(blocking=False):
            _close_pipes(process)
            self._asking.release()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            self._process = subprocess.Popen(
                # -P: the folder that a person is in may be a stranger's repository.
                [sys.executable, "-P", "-m", "ci.backend.pool.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._environment,
                pass_fds=self._keep_open,
                start_new_session=True,
            )
        return self._process

    def _death(self) -> str:
        """Exit reason of a worker that closed its pipe or sent a malformed answer."""
        process = self._process
        code = None
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(timeout=1)
        self.close()
        if code is None:
            return "the worker sent a malformed answer"
        return (
            f"the worker was ended by {signal.Signals(-code).name}"
            if code < 0
            else (f"the worker ended with code {code}")
        )

    def _line(self, process: subprocess.Popen[bytes], seconds: float) -> bytes:
        """The next line that the process writes, b'' at its end; raises TimeoutError."""
        assert process.stdout is not None
        read: list[bytes] = []
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while not read or not read[-1].endswith(b"\n"):
                left = end - time.monotonic()
                if selector.select(max(0.0, min(left, _LOOK_S))):
                    part = os.read(process.stdout.fileno(), _PIECE)
                    if not part:
                        return b""
                    read.append(part)
                elif self._process is not process:  # a program of its may still hold the pipe
                    return b""
                elif left <= 0:
                    raise TimeoutError
        return b"".join(read)


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # what it had not yet read
                pipe.close()
