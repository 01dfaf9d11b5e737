"""A process for one cell of a bench: what it uses is counted, and it can die without the others.

The run goes in pickled on stdin, which stays open for as long as whoever asked lives; one line of
JSON comes out.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import IO, Final, Protocol

from pydantic import ValidationError

from ci.model.bench.strategies import Cell
from ci.model.errors import EnvironmentProblem, InputError, ModelUnavailable
from ci.model.frozen import Frozen

LOG: Final = "log.txt"
"""In the folder of a run: what its process said, golden functions and defects included."""


class Job(Protocol):
    """What a process is given: picklable."""

    @property
    def folder(self) -> Path:
        """Where the run leaves what it says; exists."""

    def make(self) -> Cell:
        """The cell; raises `InputError` when its operator cannot be run."""


class Answer(Frozen):
    """What comes out: the cell, or why there is none."""

    cell: Cell | None = None
    reason: str = ""
    operators_fault: bool = False
    """The reason holds for every run of the operator."""
    environment: bool = False
    """The reason is this machine, not the operator."""


def in_process(job: Job) -> Answer:
    """The cell made in a fresh process, or why there is none.

    Raises EnvironmentProblem when this machine cannot run operators at all.
    """
    with (job.folder / LOG).open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ci.lab.bench.cell_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(pickle.dumps(job))
        process.stdin.flush()
        said = process.stdout.read()
    finally:
        process.stdin.close()  # ends it if it is still there
        process.wait()
        process.stdout.close()
    try:
        answer = Answer.model_validate_json(said)
    except ValidationError:
        why = f"The process of the run ended with code {process.returncode} ({job.folder}/{LOG})."
        return Answer(reason=why)
    return _told(answer)


def serve(given: IO[bytes], answers: IO[str]) -> None:
    """Make the one cell that is asked for."""
    job: Job = pickle.load(given)
    threading.Thread(target=_end_with, args=(given.fileno(),), daemon=True).start()
    answers.write(_answer(job).model_dump_json() + "\n")
    answers.flush()


def here(job: Job) -> Answer:
    """The cell made in this process, or why there is none; for tests and for one cell alone."""
    return _told(_answer(job))


def _told(answer: Answer) -> Answer:
    if answer.environment:
        raise EnvironmentProblem(answer.reason)
    return answer


def _answer(job: Job) -> Answer:
    try:
        return Answer(cell=job.make())
    except InputError as problem:
        return Answer(reason=str(problem), operators_fault=True)
    except ModelUnavailable as problem:
        return Answer(reason=str(problem))
    except EnvironmentProblem as problem:
        return Answer(reason=str(problem), environment=True)
    except Exception as bug:  # one run never stops the others
        traceback.print_exc()
        return Answer(reason=f"A defect of ours: {type(bug).__name__}: {bug} (see its {LOG}).")


def _end_with(asker: int) -> None:
    """Nothing of a bench that was killed goes on and writes into the folders of the next one."""
    while os.read(asker, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what golden functions print is no answer
    serve(sys.stdin.buffer, own)
