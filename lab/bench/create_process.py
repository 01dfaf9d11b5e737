"""A process for one row of `bench create`: what is to be made goes in and the row comes out, as
JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ci.model.errors import InputError
from ci.model.frozen import Frozen
from lab.bench.create_pairs import pair_row
from lab.bench.create_tasks import task_row
from lab.bench.fresh_process import ask, serve
from lab.model.create import CreateBenchSettings, CreateRow

MODULE: Final = "lab.bench.create_process"


class RowJob(Frozen):
    """A task's file, or a golden function in one."""

    file: Path
    function: str = ""
    settings: CreateBenchSettings

    @property
    def name(self) -> str:
        """Return the name of what is made."""
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
    said, code = ask(MODULE, job.model_dump_json().encode())
    try:
        answer = Answer.model_validate_json(said)
    except ValidationError:
        raise InputError(
            f"The process that made {job.name} ended with code {code}; it has no row"
            " and is made again next time."
        ) from None
    if answer.row is None:
        raise InputError(answer.refused)
    return answer.row


def _answer(question: bytes) -> str:
    try:
        answer = Answer(row=RowJob.model_validate_json(question).make())
    except InputError as problem:
        answer = Answer(refused=str(problem))
    return answer.model_dump_json()


if __name__ == "__main__":
    serve(_answer)
