"""A process for one row of `bench create`: what its tensors took is given back when it ends.

What is to be made goes in as JSON on stdin, and one line of JSON comes out. A module of its own is
started, so that nothing depends on how the program that asks was started itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ci.lab.bench.create_pairs import pair_row
from ci.lab.bench.create_tasks import task_row
from ci.model.bench.create import CreateBenchSettings, CreateRow
from ci.model.errors import InputError
from ci.model.frozen import Frozen

MODULE: Final = "ci.lab.bench.create_process"


class RowJob(Frozen):
    """A task's file, or a golden function in one."""

    file: Path
    function: str = ""
    settings: CreateBenchSettings

    @property
    def name(self) -> str:
        """Of what is made."""
        return self.function or self.file.stem

    def make(self) -> CreateRow:
        """The row; raises InputError where the settings lack something."""
        if self.function:
            return pair_row(self.file, self.function, self.settings)
        return task_row(self.file, self.settings)


class Answer(Frozen):
    """What comes out: the row, or why there can be none."""

    row: CreateRow | None = None
    refused: str = ""


def in_process(job: RowJob) -> CreateRow:
    """The row made in a fresh process; raises InputError where there can be none."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", MODULE],
        input=job.model_dump_json().encode(),
        stdout=subprocess.PIPE,
        check=False,
    )
    try:
        answer = Answer.model_validate_json(done.stdout)
    except ValidationError:
        raise InputError(
            f"The process that made {job.name} ended with code {done.returncode}; it has no row"
            " and is made again next time."
        ) from None
    if answer.row is None:
        raise InputError(answer.refused)
    return answer.row


def _answer(given: bytes) -> Answer:
    try:
        return Answer(row=RowJob.model_validate_json(given).make())
    except InputError as problem:
        return Answer(refused=str(problem))


if __name__ == "__main__":
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what golden functions print is no answer
    own.write(_answer(sys.stdin.buffer.read()).model_dump_json())
    own.close()
