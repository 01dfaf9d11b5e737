"""Makes the operator of one task of a benchmark and says what became of it."""

from __future__ import annotations

import shutil
from pathlib import Path

from ci.backend import make_backend
from ci.create.benchmark import torch_task
from ci.create.create import create_task
from ci.create.verify import NotRight
from ci.judge.evaluate import Evaluator
from ci.model.created import CreateSettings
from ci.model.errors import InputError
from ci.model.trial import Candidate, Outcome
from ci.source.discovery import find_operators, load_operator
from ci.source.workload_file import load_workload
from lab.model.create import CreateBenchSettings, CreateRow


def task_row(file: Path, settings: CreateBenchSettings) -> CreateRow:
    """What became of the task in a file, and the time of its operator."""
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
