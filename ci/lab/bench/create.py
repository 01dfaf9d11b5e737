"""Makes an operator of each task of a benchmark and says what became of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from ci.backend import make_backend
from ci.create.benchmark import is_torch_task, task_files, torch_task
from ci.create.create import create_task
from ci.create.task import functions_in
from ci.create.verify import NotRight
from ci.judge.evaluate import Evaluator
from ci.lab.bench.create_pairs import pair_row
from ci.model.bench.create import CreateBench, CreateBenchSettings, CreateRow
from ci.model.created import CreateSettings
from ci.model.errors import InputError
from ci.model.trial import Candidate, Outcome
from ci.source.discovery import find_operators, load_operator
from ci.source.workload_file import load_workload

ROWS: Final = "rows.jsonl"


def measure(
    path: Path, settings: CreateBenchSettings, on_row: Callable[[CreateRow], None]
) -> CreateBench:
    """A row for each task at `path`; rows that are there are kept. Raises InputError when there is
    no task."""
    settings.out.mkdir(parents=True, exist_ok=True)
    known = _known(settings.out / ROWS)
    rows = []
    for category, name, make in _tasks(path, settings):
        if settings.category and category != settings.category:
            continue
        row = known.get(f"{category}/{name}")
        if row is None:
            row = _apart(make)
            with (settings.out / ROWS).open("a", encoding="utf-8") as rest:
                rest.write(row.model_dump_json() + "\n")
            on_row(row)
        rows.append(row)
    return CreateBench(
        rows=tuple(rows),
        pairs=_holds_goldens(path),
        device=settings.device,
        elements=settings.elements,
        headers=settings.asc_headers,
    )


def _apart(make: Callable[[], CreateRow]) -> CreateRow:
    """A row made in a process of its own: what tensors took is given back when it ends."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(make).result()


def _tasks(
    path: Path, settings: CreateBenchSettings
) -> Iterator[tuple[str, str, Callable[[], CreateRow]]]:
    """Category and name of each task with what makes its row."""
    if _holds_goldens(path):
        for name in functions_in(path):
            yield path.stem, name, partial(pair_row, path, name, settings)
        return
    for file in task_files(path):
        yield file.parent.name, file.stem, partial(_row, file, settings)


def _holds_goldens(path: Path) -> bool:
    """Whether a path is a file of golden functions, not of tasks."""
    return path.suffix == ".py" and path.is_file() and not is_torch_task(path)


def _known(file: Path) -> dict[str, CreateRow]:
    if not file.is_file():
        return {}
    rows = [CreateRow.model_validate_json(line) for line in file.read_text().splitlines()]
    return {f"{r.category}/{r.task}": r for r in rows}


def _row(file: Path, settings: CreateBenchSettings) -> CreateRow:
    category = file.parent.name
    row = CreateRow(task=file.stem, category=category)
    try:
        task, tracer = torch_task(file, settings.elements)
    except InputError as problem:
        return row.model_copy(update={"said": str(problem)})
    shapes = ", ".join("x".join(map(str, s)) or "scalar" for s in task.cases[0].shapes)
    row = row.model_copy(update={"shapes": shapes, "reduced": task.reduced, "traced": True})
    out = settings.out / category / task.name
    shutil.rmtree(out, ignore_errors=True)
    try:
        wanted = CreateSettings(
            from_benchmark=True,
            out=out,
            device=settings.device,
            asc_headers=settings.asc_headers,
        )
        created = create_task(task, tracer, wanted, lambda said: None)
    except NotRight as problem:
        compiled = problem.outcome is not Outcome.COMPILE_ERROR
        return row.model_copy(update={"compiled": compiled, "said": str(problem)})
    except InputError as problem:
        return row.model_copy(update={"said": str(problem)})
    finally:
        tracer.close()
    return row.model_copy(
        update={
            "compiled": True,
            "right": True,
            "microseconds": created.cases[0].microseconds,
            "floor_us": created.cases[0].floor_us,
            "varied": created.varied,
            "by_hand_us": _by_hand(out, task.name, settings),
        }
    )


def _by_hand(created: Path, name: str, settings: CreateBenchSettings) -> float | None:
    """The time of the repository's operator of that name on the same case, if it takes it."""
    if settings.repository is None:
        return None
    operator = next((o for o in find_operators(settings.repository) if o.name == name), None)
    own = load_workload(load_operator(created))
    if operator is None or len(operator.inputs) != len(own.cases[0].inputs):
        return None
    workload = own.model_copy(update={"operator": operator.op_type, "cases": own.cases[:1]})
    backend = make_backend("sim", settings.device, asc_headers=settings.asc_headers)
    try:
        trial = Evaluator(operator, workload, backend).evaluate(Candidate(), 0)
    except InputError:
        return None
    return trial.measurement.cases[0].median_us if trial.measurement else None
