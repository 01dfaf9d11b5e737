"""Runs a program whose output is bounded in time and size."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from select import PIPE_BUF
from typing import Final

_PIECE: Final = 1 << 16


class TooMuchOutput(Exception):
    """A program printed more than it was allowed to, and was ended."""


def run_bounded(
    command: Sequence[str],
    given: bytes,
    *,
    folder: Path,
    env: Mapping[str, str],
    timeout_s: float,
    most_bytes: int,
) -> subprocess.CompletedProcess[bytes]:
    """`command` in `folder`, with `given` on its stdin, when it has ended.

    What it prints is kept in memory. Raises subprocess.TimeoutExpired or TooMuchOutput, and ends
    the program first.
    """
    pipe, ends = subprocess.PIPE, time.monotonic() + timeout_s
    with subprocess.Popen(
        command, cwd=folder, env=dict(env), stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        try:
            out, err = _exchanged(process, given, ends, most_bytes)
            code = process.wait(max(0.0, ends - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise subprocess.TimeoutExpired(command, timeout_s) from None
        finally:
            process.kill()  # nothing where it has ended
    return subprocess.CompletedProcess(command, code, out, err)


def _exchanged(
    process: subprocess.Popen[bytes], given: bytes, ends: float, most_bytes: int
) -> tuple[bytes, bytes]:
    """What a program prints to stdout and stderr, to their ends, while it is given its input."""
    assert process.stdin and process.stdout and process.stderr
    found: dict[int, list[bytes]] = {process.stdout.fileno(): [], process.stderr.fileno(): []}
    out, err = found.values()
    left, size = memoryview(given), 0
    with selectors.DefaultSelector() as pipes:
        pipes.register(process.stdin, selectors.EVENT_WRITE)
        pipes.register(process.stdout, selectors.EVENT_READ)
        pipes.register(process.stderr, selectors.EVENT_READ)
        while pipes.get_map():
            wait = ends - time.monotonic()
            if wait <= 0:
                raise subprocess.TimeoutExpired(process.args, wait)
            for ready, _ in pipes.select(wait):
                if ready.fileobj is process.stdin:
                    left = left[_written(ready.fd, left) :]
                    done = not left
                else:
                    piece = os.read(ready.fd, _PIECE)
                    found[ready.fd].append(piece)
                    size += len(piece)
                    done = not piece
                if size > most_bytes:
                    raise TooMuchOutput
                if done:
                    pipes.unregister(ready.fileobj)
                    ready.fileobj.close()  # type: ignore[union-attr]
    return b"".join(out), b"".join(err)


def _written(place: int, left: memoryview) -> int:
    """How many bytes a pipe takes without waiting; all that is left when nobody reads it."""
    try:
        return os.write(place, left[:PIPE_BUF]) if left else 0
    except BrokenPipeError:
        return len(left)
