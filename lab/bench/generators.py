"""Judges the answers of a generator to the tasks of a benchmark, several at a time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ci.create.benchmark import task_files
from ci.model.errors import InputError
from ci.system.row_file import RowFile
from lab.bench.answers import answer_files, digest_of
from lab.bench.create import ROWS as CREATED
from lab.bench.fresh_process import ask
from lab.bench.judged_answer import MODULE, NO_ANSWER, Answer, AnswerJob
from lab.model.create import CreateRow
from lab.model.generators import AnswerRow, GeneratorsBench, GeneratorsSettings

ROWS: Final = "answers.jsonl"


def measure(
    path: Path, settings: GeneratorsSettings, on_row: Callable[[AnswerRow], None]
) -> GeneratorsBench:
    """Return a row for each task at `path`; rows of unchanged answers are kept.

    Raises InputError when there is no task, or no folder of answers.
    """
    if not settings.answers.is_dir():
        raise InputError(f"There is no folder of answers {settings.answers}.")
    references = _references(settings)
    kept = RowFile(settings.out / ROWS, AnswerRow, lambda row: (row.category, row.task))

    def one(file: Path) -> AnswerRow:
        known = kept.rows.get((file.parent.name, file.stem))
        if known is None or known.digest != _digest(settings.answers, file):
            known = _in_process(AnswerJob(file=file, settings=settings))
            kept.add(known)
            on_row(known)
        time = references.get((known.category, known.task))
        return known.model_copy(update={"reference_us": time})

    files = [
        file
        for file in task_files(path)
        if not settings.category or file.parent.name == settings.category
    ]
    with ThreadPoolExecutor(settings.jobs) as threads:
        rows = tuple(threads.map(one, files))
    return GeneratorsBench(
        rows=rows,
        device=settings.device,
        elements=settings.elements,
        compared=settings.against is not None,
    )


def _digest(answers: Path, file: Path) -> str:
    """Return the digest of an answer as it is now; one that cannot be read is judged again."""
    try:
        files = answer_files(answers, file.parent.name, file.stem)
    except (InputError, FileNotFoundError):
        return NO_ANSWER
    return NO_ANSWER if files is None else digest_of(files)


def _references(settings: GeneratorsSettings) -> dict[tuple[str, str], float]:
    """Return the reference times in µs by category and task."""
    if settings.against is None:
        return {}
    file = settings.against / CREATED
    if not file.is_file():
        raise InputError(f"{settings.against} holds no {CREATED}: `bench create --out` leaves one.")
    rows = RowFile(file, CreateRow, lambda row: (row.category, row.task)).rows
    return {key: row.microseconds for key, row in rows.items() if row.right}


def _in_process(job: AnswerJob) -> AnswerRow:
    """Return the row that a fresh process makes; one that died says so in the row."""
    said, code = ask(MODULE, job.model_dump_json().encode())
    lost = AnswerRow(task=job.file.stem, category=job.file.parent.name, outcome="lost")
    try:
        answer = Answer.model_validate_json(said)
    except ValidationError:
        return lost.model_copy(update={"said": f"The process that judged it ended with {code}."})
    return answer.row or lost.model_copy(update={"said": answer.refused})
