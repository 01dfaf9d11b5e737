"""The process at a seat: reads questions, one JSON line each, and writes answers likewise.

What runs here is our own code; candidates' code runs in the sandbox that it starts. The environment
is made of few named variables (`ci.backend.pool.process`), so that no token is in it. The process
ends when whoever asked ends.
"""

from __future__ import annotations

import importlib
import os
import queue
import shutil
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import IO, Final

from pydantic import JsonValue

from ci.backend.pool import base
from ci.backend.pool.base import Answer, Sent
from ci.model.errors import EnvironmentProblem, InputError
from ci.system.cache import default_root

LEAST_FREE: Final = 64 << 20
"""Bytes that must be free where programs are built: a full disk looks like a broken candidate."""

# Modules that a question may name: those of this package, and of `lab/` in a checkout.
_OURS: Final = (base.__name__.removesuffix("backend.pool.base"), "lab.")
"""What the names of our own modules begin with; a wheel's begin with another word."""


def check_room(least: int = LEAST_FREE) -> None:
    """Raises EnvironmentProblem when a file system that is written to is full."""
    for place in (Path(tempfile.gettempdir()), default_root()):
        there = next(p for p in (place, *place.parents) if p.is_dir())
        free = shutil.disk_usage(there).free
        if free < least:
            raise EnvironmentProblem(
                f"The disk of {place} is full: {free >> 20} MB are free and {least >> 20} MB are"
                " needed; remove what is not needed there."
            )


def answer(sent: Sent, room: Callable[[], None] = check_room) -> Answer:
    """Call the handler that the question names, and say how it ended."""
    try:
        room()
        said = _handler(sent.handler)(sent.text, {n: Path(p) for n, p in sent.folders.items()})
        room()  # what failed for want of room is no answer
        return Answer(number=sent.number, text=said)
    except InputError as problem:
        return Answer(number=sent.number, kind="input", text=str(problem))
    except (EnvironmentProblem, OSError, MemoryError) as problem:
        why = str(problem) or type(problem).__name__
        return Answer(number=sent.number, kind="environment", text=" ".join(why.split()))
    except Exception as bug:
        traceback.print_exc()
        why = f"A defect of ours: {type(bug).__name__}: {bug}"
        return Answer(number=sent.number, kind="defect", text=why)


def _handler(name: str) -> Callable[[JsonValue, dict[str, Path]], JsonValue]:
    module, _, function = name.partition(":")
    if not module.startswith(_OURS):
        raise ValueError(f"{name} is no handler of ours")
    found = getattr(importlib.import_module(module), function)
    assert callable(found)
    return found  # type: ignore[no-any-return]


def serve(asked: IO[str], answers: IO[str]) -> None:
    """Answer every line of `asked`; end at once when it ends, in the midst of work too."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in asked:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        said = answer(Sent.model_validate_json(lines.get()))
        answers.write(said.model_dump_json() + "\n")
        answers.flush()


if __name__ == "__main__":
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what golden functions print is no answer
    serve(sys.stdin, own)
