"""One answer from a process of its own: what its tensors took is given back, it can die alone, and
it ends with whoever asked.

A module is started, so that nothing depends on how the program that asks was started itself. What
is asked goes in on stdin, its length first; stdin then stays open for as long as whoever asked
lives.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO


def ask(module: str, question: bytes, log: IO[bytes] | None = None) -> tuple[bytes, int]:
    """What `module` answers, and the code that its process ended with. What it says otherwise goes
    to `log`, or to this process's stderr."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        with suppress(BrokenPipeError):  # it died before it had read all: what it says tells
            process.stdin.write(b"%d\n%s" % (len(question), question))
            process.stdin.flush()
        said = process.stdout.read()
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()  # ends it if it is still there
        process.wait()
        process.stdout.close()
    return said, process.returncode


def serve(answer: Callable[[bytes], str]) -> None:
    """Answer the one question of this process on stdout; what else is printed goes to stderr."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what golden functions print is no answer
    question = sys.stdin.buffer.read(int(sys.stdin.buffer.readline()))
    threading.Thread(target=_end_with, args=(sys.stdin.fileno(),), daemon=True).start()
    said = answer(question)
    sys.stdout.flush()  # who has the answer ends this process, whatever is not written yet
    own.write(said)
    own.close()


def _end_with(asker: int) -> None:
    """Nothing of a bench that was killed goes on and writes into the folders of the next one."""
    while os.read(asker, 1):
        pass
    os._exit(1)
