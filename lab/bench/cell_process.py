"""A process for one cell of a bench, so that what it uses is counted: the run goes in pickled, and
the cell comes out as JSON."""

from __future__ import annotations

import pickle
import traceback
from pathlib import Path
from typing import Final, Protocol

from pydantic import ValidationError

from ci.model.errors import EnvironmentProblem, InputError, ModelUnavailable
from ci.model.frozen import Frozen
from lab.bench.fresh_process import ask, serve
from lab.model.strategies import Cell

MODULE: Final = "lab.bench.cell_process"

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
        said, code = ask(MODULE, pickle.dumps(job), log)
    try:
        answer = Answer.model_validate_json(said)
    except ValidationError:
        why = f"The process of the run ended with code {code} ({job.folder}/{LOG})."
        return Answer(reason=why)
    return _told(answer)


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


if __name__ == "__main__":
    serve(lambda question: _answer(pickle.loads(question)).model_dump_json())
