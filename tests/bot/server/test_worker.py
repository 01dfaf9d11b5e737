"""What a run says is read to its end, whatever it is and wherever it goes."""

from __future__ import annotations

from collections import deque
from io import BytesIO
from pathlib import Path

from bot.server import worker


def test_what_a_run_says_is_read_on_where_its_log_cannot_be_written() -> None:
    """Else the run waits for its reader for ever; and a line without end is read in parts."""
    lines, pipe = deque[str](maxlen=50), BytesIO(b"x" * (1 << 18) + b"\nlast\n")
    with Path("/dev/full").open("wb", buffering=0) as log:
        worker._read(pipe, log, lines)
    assert lines[-1] == "last" and len(lines[0]) < 1 << 17
