"""Makes an operator of each task of a benchmark and says what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from ci.create.benchmark import is_torch_task, task_files
from ci.create.task import functions_in
from ci.model.errors import InputError
from ci.system.row_file import RowFile
from lab.bench.create_process import RowJob, in_process
from lab.model.create import CreateBench, CreateBenchSettings, CreateRow

ROWS: Final = "rows.jsonl"


def measure(
    path: Path, settings: CreateBenchSettings, on_row: Callable[[CreateRow], None]
) -> CreateBench:
    """A row for each task at `path`; rows that are there are kept. Raises InputError when there is
    no task."""
    kept = RowFile(settings.out / ROWS, CreateRow, lambda row: f"{row.category}/{row.task}")
    rows = []
    for category, name, job in _tasks(path, settings):
        if settings.category and category != settings.category:
            continue
        row = kept.rows.get(f"{category}/{name}")
        if row is None:
            row = in_process(job)
            kept.add(row)
            on_row(row)
        rows.append(row)
    return CreateBench(
        rows=tuple(rows),
        pairs=_holds_goldens(path),
        device=settings.device,
        elements=settings.elements,
        headers=settings.asc_headers,
    )


def _tasks(path: Path, settings: CreateBenchSettings) -> Iterator[tuple[str, str, RowJob]]:
    """Category and name of each task with what makes its row."""
    if _holds_goldens(path):
        names = functions_in(path)
        if not names:
            raise InputError(f"{path} defines no public function.")
        for name in names:
            yield path.stem, name, RowJob(file=path, function=name, settings=settings)
        return
    for file in task_files(path):
        yield file.parent.name, file.stem, RowJob(file=file, settings=settings)


def _holds_goldens(path: Path) -> bool:
    """Whether a path is a file of golden functions, not of tasks."""
    return path.suffix == ".py" and path.is_file() and not is_torch_task(path)
