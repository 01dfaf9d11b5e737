"""A golden function and shapes as somebody wrote them down: what is asked for, as text alone.

Nothing is run or imported here, so the process that reads a stranger's words may call it.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import yaml
from pydantic import BeforeValidator, Field

from ci.create.task import public_functions, snake
from ci.model.amount import amount
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.yaml_model import YamlFile
from ci.source.workload_model import GivenTensor, GivenWorkload, as_dtype, as_shape

MOST_CHARACTERS: Final = 20_000
"""Most characters of a golden function, and of its shapes: more is no function but a library."""

MOST_CASES: Final = 16
MOST_ELEMENTS: Final = 1 << 22
"""Most elements of the inputs of a case together: the simulator takes seconds for these, and every
dtype and
dozens of varied cases are run besides."""

NAME: Final = "the shapes"
_GOLDEN: Final = "the golden function"


class Asked(Frozen):
    """An operator that is asked for, checked as far as text can be."""

    name: str = Field(description="Of the operator, as its folder is called.")
    function: str = Field(description="The golden function's.")
    workload: str = Field(description="The text of a workload file with its cases.")


class _Shapes(Frozen):
    """The short form: a shape for each input, once or for each of several cases."""

    shapes: (
        dict[str, Annotated[tuple[int, ...], BeforeValidator(as_shape)]]
        | list[dict[str, Annotated[tuple[int, ...], BeforeValidator(as_shape)]]]
    ) = Field(min_length=1)
    dtype: Annotated[str, BeforeValidator(as_dtype)] = "float32"
    attrs: dict[str, int | float | bool] = Field(default_factory=dict)


def asked(golden: str, shapes: str, name: str = "") -> Asked:
    """What `golden`, the text of a Python file, is to become an operator for.

    `shapes`: a workload as YAML, or `shapes: {x: [8, 2048]}` with `dtype` and `attrs` where needed;
    a list of such shapes makes several cases. `name`: of the operator; that of the function when
    empty. Raises InputError with what is missing or too large.
    """
    for text, what in ((golden, _GOLDEN), (shapes, NAME)):
        if len(text) > MOST_CHARACTERS:
            raise InputError(f"{what.capitalize()} may have {MOST_CHARACTERS} characters at most.")
    function = _function(golden, name)
    data = _workload(shapes)
    if len(data["cases"]) > MOST_CASES:
        raise InputError(f"There may be {MOST_CASES} cases at most, not {len(data['cases'])}.")
    text = yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=100)
    _refuse_large(YamlFile(text, NAME).read(GivenWorkload))
    return Asked(name=snake(name or function), function=function, workload=text)


def _function(golden: str, name: str) -> str:
    """The one public function, or of several the one of the operator's name."""
    found = public_functions(golden)
    if name in found:
        return name
    if len(found) == 1:
        return found[0]
    listed = ", ".join(found[:10]) or "none"
    raise InputError(
        f"The Python block must define one function whose name does not begin with '_'; it defines"
        f" {listed}. Name the one that is meant, or begin the others' names with '_'."
    )


def _workload(shapes: str) -> dict[str, Any]:
    """The data of a workload file; of the short form a case for each set of shapes."""
    file = YamlFile(shapes, NAME)
    if not isinstance(file.data, dict) or "shapes" not in file.data:
        file.read(GivenWorkload)  # raises where it is none
        assert isinstance(file.data, dict)
        # Which golden judges, and what the operator is called, is said elsewhere.
        return {k: v for k, v in file.data.items() if k not in ("golden", "operator")}
    short = file.read(_Shapes)
    sets = [short.shapes] if isinstance(short.shapes, dict) else short.shapes
    return {
        "cases": [
            {
                "name": "_".join("x".join(map(str, s)) or "scalar" for s in one.values()),
                "inputs": {n: {"shape": list(s), "dtype": short.dtype} for n, s in one.items()},
                **({"attrs": dict(short.attrs)} if short.attrs else {}),
            }
            for one in sets
        ]
    }


def _refuse_large(given: GivenWorkload) -> None:
    for case in given.cases:
        entries = case.inputs.values() if isinstance(case.inputs, dict) else case.inputs or ()
        tensors = [t for e in entries for t in (e if isinstance(e, tuple) else (e,))]
        count = 0
        for tensor in tensors:
            size = 1
            for axis in tensor.full_shape if isinstance(tensor, GivenTensor) else ():
                size *= axis
            count += size
        if count > MOST_ELEMENTS:
            raise InputError(
                f"Case '{case.name}' has {amount(count, 'element')} in its inputs;"
                f" {MOST_ELEMENTS:,} are"
                " simulated at most. The operator takes any size: give smaller shapes."
            )
