"""Makes operators of golden functions and holds them against those that a repository has."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Final

import yaml
from scipy.stats import gmean

from ci.backend import make_backend
from ci.create.create import create
from ci.create.task import FLOATS
from ci.create.verify import NotRight
from ci.judge.evaluate import Evaluator
from ci.model.created import Created, CreateSettings
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.trial import Candidate, Outcome
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source.discovery import find_operators
from ci.source.workload_file import find_workload, load_workload
from lab.model.create import CreateBenchSettings, CreateRow

KEPT: Final = ("tolerances", "cases")
"""What the made operator's workload takes of the other's: it works on no input in place."""


def pair_row(file: Path, function: str, settings: CreateBenchSettings) -> CreateRow:
    """What became of one function, and the times of both on the same cases.

    Times are geometric means over the cases whose tensors are all floating-point. With real headers
    the made one is judged alone. Raises InputError when no repository or workloads are given.
    """
    row = CreateRow(task=function, category=file.stem)
    if settings.repository is None or settings.workloads is None:
        raise InputError(
            f"{file} holds golden functions: --repository says where the operators are that they"
            " are held against, --workloads the folder of the workloads."
        )
    found = next((o for o in find_operators(settings.repository) if o.name == function), None)
    if found is None:
        return row.model_copy(update={"said": f"{settings.repository} has no operator {function}."})
    out = settings.out / file.stem / function
    shutil.rmtree(out, ignore_errors=True)
    try:
        source, workload = _workload(found, settings)
        created = _created(f"{file}:{function}", source, workload, out, settings)
        row = row.model_copy(update={"traced": True, "compiled": True, "right": True})
        by_hand = {} if settings.asc_headers else _times(found, workload, settings)
    except NotRight as problem:
        compiled = problem.outcome is not Outcome.COMPILE_ERROR
        return row.model_copy(update={"traced": True, "compiled": compiled, "said": str(problem)})
    except InputError as problem:
        return row.model_copy(update={"said": str(problem)})
    names = [case.name for case in workload.cases]
    cases = [one for one in created.cases if one.name in names]
    return row.model_copy(
        update={
            "shapes": ", ".join(names),
            "microseconds": float(gmean([one.microseconds for one in cases])),
            "floor_us": float(gmean([one.floor_us for one in cases])),
            "varied": created.varied,
            "by_hand_us": float(gmean([by_hand[one.name] for one in cases])) if by_hand else None,
        }
    )


def _workload(operator: Operator, settings: CreateBenchSettings) -> tuple[Path, Workload]:
    """The operator's workload, where it was read, less the cases that no made operator takes."""
    assert settings.repository is not None
    file = find_workload(operator.root, settings.workloads, settings.repository.resolve())
    if file is None:
        raise InputError(f"{settings.workloads} has no workload of {operator.name}.")
    workload = load_workload(operator, file)
    cases = tuple(case for case in workload.cases if _floating(case))
    if not cases:
        raise InputError(f"{file} has no case whose tensors are all floating-point.")
    return file, workload.model_copy(update={"cases": cases})


def _floating(case: WorkloadCase) -> bool:
    return all(isinstance(t, TensorCase) and t.dtype in FLOATS for t in case.inputs)


def _created(
    golden: str, source: Path, workload: Workload, out: Path, settings: CreateBenchSettings
) -> Created:
    """The operator made of the golden function for the workload's cases, read from `source`."""
    given: dict[str, Any] = yaml.safe_load(source.read_text(encoding="utf-8"))
    names = {case.name for case in workload.cases}
    given = {key: given[key] for key in KEPT if key in given}
    given["cases"] = [case for case in given["cases"] if case.get("name") in names]
    own = out.with_suffix(".yaml")
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(yaml.safe_dump(given, sort_keys=False), encoding="utf-8")
    wanted = {"device": settings.device, "asc_headers": settings.asc_headers}
    return create(golden, CreateSettings.model_validate({"workload": own, "out": out, **wanted}))


def _times(
    operator: Operator, workload: Workload, settings: CreateBenchSettings
) -> dict[str, float]:
    """What the operator written by hand takes, µs by case; raises InputError when it is wrong."""
    backend = make_backend("sim", settings.device, asc_headers=settings.asc_headers)
    trial = Evaluator(operator, workload, backend).evaluate(Candidate(), 0)
    if trial.measurement is None:
        said = trial.refusal.message if trial.refusal else trial.outcome.value
        raise InputError(f"{operator.name} as it is written by hand does not run: {said}")
    return {case.case: case.median_us for case in trial.measurement.cases}
