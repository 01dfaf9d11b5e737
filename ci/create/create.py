"""The way from a golden function and a workload to a verified operator folder."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from ci.create.benchmark import bench_task, torch_task
from ci.create.emit_kernel import templates
from ci.create.operator_files import Made, make
from ci.create.passes.copies import camel
from ci.create.task import (
    FLOATS,
    Task,
    function_in,
    golden_of,
    read_task,
    snake,
    whole_without_range,
)
from ci.create.tracer import MOST_ELEMENTS, Tracer
from ci.create.verify import WrongProgram, check_operator, check_program
from ci.model.created import Created, CreateSettings, NotTraced
from ci.model.errors import InputError


def create(
    golden: str, settings: CreateSettings, say: Callable[[str], None] = lambda said: None
) -> Created:
    """Make the operator of a golden function, `file.py:function` or a file with one function.

    What is written is built, run and verified before it takes its place; on failure nothing
    stays. Raises InputError with what stops it.
    """
    if settings.out.exists():
        raise InputError(f"{settings.out} exists already; an operator is made in a new folder.")
    if settings.from_benchmark:
        if settings.workload is not None:
            raise InputError("A benchmark's task says its sizes itself; leave --workload out.")
        path = Path(golden)
        say(f"Tracing the task {path.name} in the sandbox.")
        task, tracer = bench_task(path) if path.is_dir() else torch_task(path, MOST_ELEMENTS)
    else:
        if settings.workload is None:
            raise InputError(
                "No workload is given: --workload FILE names the shapes and dtypes of the operator."
            )
        file, function = golden_of(golden)
        function = function or function_in(file)
        say(f"Tracing {function} of {file.name} in the sandbox.")
        tracer = Tracer(file, function)
        try:
            task = read_task(file, function, settings.workload, tracer.parameters)
        except InputError:
            tracer.close()
            raise
    try:
        if settings.name:
            task = replace(task, name=snake(settings.name))
        return create_task(task, tracer, settings, say)
    except InputError as problem:
        if settings.from_benchmark:
            raise
        if settings.proposer == "rules":
            raise NotTraced(str(problem)) from None
        say(str(problem))
        from ci.create.model_writer import write_operator

        return write_operator(
            task, str(problem), settings, partial(build, task, settings=settings, say=say), say
        )
    finally:
        tracer.close()


def create_task(
    task: Task, tracer: Tracer, settings: CreateSettings, say: Callable[[str], None]
) -> Created:
    """The same for a task that is read already, by tracing alone."""
    made = make(task, tracer)
    try:
        return build(task, made, settings=settings, say=say)
    except WrongProgram as problem:
        raise InputError(
            f"{problem} This is a defect of ascendopt's tracing or scheduling; report it with the"
            " golden function."
        ) from None


def build(
    task: Task,
    made: Made,
    written_by: str = "",
    *,
    settings: CreateSettings,
    say: Callable[[str], None],
) -> Created:
    """Write, build and verify what was made. Raises WrongProgram or NotRight, and leaves nothing
    then."""
    settings.out.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=".create-", dir=settings.out.parent))
    try:
        folder = beside / task.name
        write(task, made, folder)
        say("Running the tile program in numpy.")
        check_program(task, made, folder)
        say(
            f"Building and verifying {camel(task.name)} on {_counted(len(task.cases), 'case')} and"
            " on varied ones (the first run on a machine builds the simulator too)."
        )
        otherwise = task.other_precision and f"{task.function}{task.other_precision}"
        unbounded = whole_without_range(task)
        _, created = check_operator(made, folder, settings, settings.out, otherwise, unbounded)
        created = created.model_copy(update={"written_by": written_by})
        _readme(task, made, created, folder)
        folder.rename(settings.out)
        return created
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _counted(number: int, what: str) -> str:
    """A number of things in words: `1 case`, `2 cases`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def write(task: Task, made: Made, folder: Path) -> None:
    """All files of the operator but what its verification says."""
    for name, text in made.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "golden.py").write_text(task.golden, encoding="utf-8")
    (folder / "workload.yaml").write_text(_workload(task, made), encoding="utf-8")


def _workload(task: Task, made: Made) -> str:
    """The workload as given, with this golden, and a case for each dtype that it leaves out."""
    given = dict(task.workload)
    cases = [{**c, "inputs": _renamed(task, c["inputs"])} for c in given.pop("cases")]
    follow = [n for n in task.inputs if len(set(made.interface.columns[n])) > 1]
    used = {case.dtypes[task.inputs.index(follow[0])] for case in task.cases} if follow else set()
    names = {str(c.get("name")) for c in cases}
    for dtype in FLOATS if follow else ():
        name = f"{task.cases[0].name}_{dtype}"
        if dtype in used or name in names:
            continue
        cases.append({**cases[0], "name": name, "inputs": _as(task, cases[0], follow, dtype)})
    ties = {d: {"absolute": 1} for d in made.rounded if d not in given.get("tolerances", {})}
    if ties:
        given["tolerances"] = {**given.get("tolerances", {}), **ties}
    written = {
        "operator": camel(task.name),
        "golden": f"golden.py:{task.judge or task.function}",
        **{k: v for k, v in given.items() if k not in ("operator", "golden")},
        "cases": [{k: v for k, v in c.items() if k != "outputs"} for c in cases],
    }
    plain = json.loads(json.dumps(written))  # nothing shared, which YAML would say by reference
    text = yaml.safe_dump(plain, sort_keys=False, default_flow_style=None, width=100)
    return f"# The cases that this operator was made for.\n{text}"


def _renamed(task: Task, inputs: Any) -> Any:
    """The inputs of a case under the operator's names."""
    if not isinstance(inputs, dict):
        return inputs
    names = dict(zip(task.parameters, task.inputs, strict=True))
    return {names.get(n, n): t for n, t in inputs.items()}


def _as(task: Task, case: dict[str, Any], follow: list[str], dtype: str) -> dict[str, Any]:
    """The inputs of a case with the operator's dtype changed."""
    inputs = case["inputs"]
    named = inputs if isinstance(inputs, dict) else dict(zip(task.inputs, inputs, strict=False))
    return {n: {**t, "dtype": dtype} if n in follow else t for n, t in named.items()}


def _readme(task: Task, made: Made, created: Created, folder: Path) -> None:
    values = {
        "op_type": camel(task.name),
        "function": task.function,
        "interface": made.interface,
        "program": made.program.text(),
        "created": created,
    }
    text = templates().get_template("README.md.j2").render(**values)
    (folder / "README.md").write_text(text, encoding="utf-8")
