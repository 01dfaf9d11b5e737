"""Tasks of benchmarks: MultiKernelBench's files with a PyTorch module, cann-bench's folders."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from ci.create.golden_text import golden_text
from ci.create.graph import Parameter
from ci.create.simplify import simplified
from ci.create.task import Task, TaskCase, safe, snake, task_of
from ci.create.tracer import Tracer
from ci.model.errors import InputError, worded
from ci.model.regular_file import file_text
from ci.model.yaml_model import YamlFile
from ci.source.cann_bench import is_cann_bench
from ci.source.workload_file import MOST_BYTES

MODEL: Final = "Model"
CLOSE: Final = 1e-6
"""How far the module in the stand-in and the numpy function written of it may lie apart."""

CATEGORIES: Final = (
    *("activation", "loss", "math", "normalization", "optimizer", "reduce", "pooling"),
)
"""The seven categories that AscendCraft was measured on."""


def is_torch_task(file: Path) -> bool:
    """Whether a Python file is a task: a class Model and a function get_inputs."""
    if file.suffix != ".py" or not file.is_file():
        return False
    try:
        tree = ast.parse(file_text(file))
    except SyntaxError:
        return False
    names = {getattr(node, "name", "") for node in tree.body}
    return {MODEL, "get_inputs"} <= names


def task_files(path: Path) -> list[Path]:
    """The tasks at a path: one file, or those of the categories of a checkout."""
    if is_torch_task(path):
        return [path]
    top = path / "reference" if (path / "reference").is_dir() else path
    found = [f for c in CATEGORIES for f in sorted((top / c).glob("*.py")) if is_torch_task(f)]
    found = found or [f for f in sorted(top.glob("*.py")) if is_torch_task(f)]
    if not found:
        raise InputError(f"There is no task at {path}: no Python file with Model and get_inputs.")
    return found


def torch_task(file: Path, most_elements: int) -> tuple[Task, Tracer]:
    """The task of a module, with a numpy function in its place that was compared with it.

    Raises InputError for what cannot be traced.
    """
    tracer = Tracer(file, MODEL, most_elements)
    told = tracer.described
    if told is None:
        tracer.close()
        raise InputError(f"{file} is no task with a PyTorch module.")
    names = tuple(safe(one.name) for one in told.inputs)
    shapes = tuple(one.shape for one in told.inputs)
    dtypes = tuple(str(one.dtype) for one in told.inputs)
    try:
        graph = simplified(tracer.trace(list(zip(shapes, dtypes, strict=True)), {}, []))
        text = golden_text(graph, names, told.attributes)
        apart = max(tracer.apart(text, 1))
    except InputError:
        tracer.close()
        raise
    if not apart <= CLOSE:
        tracer.close()
        raise InputError(
            f"{file.name}: what was traced and the module lie {apart:.2g} apart; this is a defect"
            " of ascendopt's tracing."
        )
    given: dict[str, Any] = {
        name: {"shape": list(one.shape), "dtype": one.dtype, "range": _range(one.range)}
        for name, one in zip(names, told.inputs, strict=True)
    }
    attributes = tuple(Parameter(name=n, default=v, given=True) for n, v in told.attributes.items())
    task = Task(
        snake(file.stem),
        text,
        "golden",
        {"cases": [{"name": "reference", "inputs": given}]},
        names,
        names,
        attributes,
        (TaskCase("reference", shapes, dtypes, {}),),
        generated=True,
        reduced=told.reduced,
    )
    return task, tracer


def _range(given: tuple[float, float]) -> list[float]:
    """The values to draw; a state that begins at zero is drawn as one that has run for a while."""
    return [0.0, 1.0] if given == (0.0, 0.0) else list(given)


def bench_task(folder: Path) -> tuple[Task, Tracer]:
    """The task of a cann-bench folder: proto.yaml, cases.yaml and golden.py in numpy."""
    if not is_cann_bench(folder) or not (folder / "golden.py").is_file():
        raise InputError(f"{folder} is no cann-bench task: proto.yaml, cases.yaml and golden.py.")
    proto, cases = _data(folder / "proto.yaml"), _data(folder / "cases.yaml")
    try:
        function, given = _as_given(proto["operator"], cases["cases"])
    except (LookupError, TypeError, AttributeError) as problem:
        said = f"{type(problem).__name__}: {problem}"
        raise InputError(f"{folder} is no cann-bench task that can be read ({said}).") from None
    golden = folder / "golden.py"
    from ci.create.task import function_in

    text = file_text(golden)
    function = function if f"def {function}(" in text else function_in(golden)
    tracer = Tracer(golden, function)
    try:
        task = task_of(text, function, {"cases": given}, tracer.parameters, folder / "cases.yaml")
    except InputError:
        tracer.close()
        raise
    except ValidationError as problem:
        tracer.close()
        raise InputError(f"{folder / 'cases.yaml'}: {worded(problem)}.") from None
    return task, tracer


def _data(file: Path) -> Any:
    return YamlFile.open(file, most_bytes=MOST_BYTES, aliases=True).data


def _as_given(proto: Any, cases: Any) -> tuple[str, list[dict[str, Any]]]:
    """The function's name and the cases in the form of a workload file; raises what Python raises
    where they have another form."""
    names = [one["name"] for one in proto["inputs"]]
    given = []
    for number, case in enumerate(cases):
        ranges = case.get("value_range")
        nested = isinstance(ranges, list) and any(isinstance(r, list) for r in ranges)
        tensors = {}
        for i, (name, shape) in enumerate(zip(names, case["input_shape"], strict=False)):
            dtype = case["dtype"][min(i, len(case["dtype"]) - 1)]
            tensors[name] = {"shape": shape, "dtype": dtype}
            pair = ranges[i] if nested else ranges
            if pair is not None:
                tensors[name]["range"] = pair
        one = {"name": f"case{case.get('case_id', number)}", "inputs": tensors}
        given.append(one | ({"attrs": case["attrs"]} if case.get("attrs") else {}))
    return str(proto.get("schema", "")).partition("(")[0].strip(), given
