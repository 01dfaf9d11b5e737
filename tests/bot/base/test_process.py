from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bot.base.process import TooMuchOutput, run_bounded


def run(
    *command: str, given: bytes = b"", timeout_s: float = 60.0, most_bytes: int = 10_000_000
) -> subprocess.CompletedProcess[bytes]:
    return run_bounded(
        command,
        given,
        folder=Path("/"),
        env={"PATH": os.environ["PATH"]},
        timeout_s=timeout_s,
        most_bytes=most_bytes,
    )


def test_more_goes_in_and_comes_out_than_a_pipe_holds() -> None:
    given = bytes(range(256)) * 4000
    assert run("cat", given=given).stdout == given


def test_both_outputs_and_the_code_are_there() -> None:
    done = run("sh", "-c", "echo one; echo two >&2; exit 7")
    assert (done.stdout, done.stderr, done.returncode) == (b"one\n", b"two\n", 7)


def test_a_program_that_reads_nothing_ends_well() -> None:
    assert run("true", given=b"x" * 1_000_000).returncode == 0


@pytest.mark.parametrize("stream", ["1", "2"])
def test_an_output_without_end_ends_the_program(stream: str) -> None:
    with pytest.raises(TooMuchOutput):
        run("sh", "-c", f"exec yes >&{stream}", most_bytes=100_000)


@pytest.mark.parametrize("program", ["exec sleep 100", "exec >&- 2>&-; exec sleep 100"])
def test_a_program_that_does_not_end_is_ended(program: str) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run("sh", "-c", program, timeout_s=0.1)
