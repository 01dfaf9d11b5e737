"""References as their authors write them become tile programs, or are refused with a reason.

python -m pytest tests/ci/create/test_references.py -q
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ci.create.graph import LOGIC
from ci.create.interpret import Tiles, run
from ci.create.operator_files import Made, make
from ci.create.task import Task, task_of, whole_without_range
from ci.create.verify import numbers
from ci.model.errors import InputError
from tests.ci.create import references
from tests.ci.create.reference_cases import CASES
from tests.ci.create.traced import LocalTracer

REFUSED = {
    "mirrored_product": "'flip' of a tensor is not lowered",
    "recurrence": "computes each element from the one before",
    "rows_by_a_mask": "indexes a tensor with a mask",
}
"""Those that are not made, and why."""


def made_of(name: str, folder: Path) -> tuple[Task, Made]:
    """What `create` makes of a reference before it is built."""
    file = folder / "cases.yaml"
    file.write_text("{}")
    tracer = LocalTracer(getattr(references, name))
    task = task_of("", name, {"cases": CASES[name]}, tracer.parameters, file)
    return task, make(task, tracer)  # type: ignore[arg-type]


def drawn(tensor: dict[str, Any], stream: np.random.Generator) -> Any:
    """Values of an input, in double precision where they are no whole numbers."""
    low, high = tensor.get("range", (-2, 2))
    if tensor["dtype"] == "bool":
        return stream.integers(0, 2, tensor["shape"]).astype(bool)
    if "int" in tensor["dtype"]:
        return stream.integers(low, high + 1, tensor["shape"]).astype(tensor["dtype"])
    return stream.uniform(low, high, tensor["shape"])


@pytest.mark.parametrize("name", [n for n in CASES if n not in REFUSED])
def test_the_program_of_a_reference_computes_what_the_reference_does(
    name: str, tmp_path: Path
) -> None:
    task, made = made_of(name, tmp_path)
    joined = (s for p in made.program.phases for s in p.statements if s.op in LOGIC)
    assert all(len({str(getattr(a, "kind", "")) for a in s.args}) == 1 for s in joined)
    stream = np.random.default_rng(3)
    for case, layout, given in zip(task.cases, made.layouts, CASES[name], strict=False):
        if 1 in (n for shape in case.shapes for n in shape):
            continue  # traced with a longer axis in its place
        values = [drawn(tensor, stream) for tensor in given["inputs"].values()]
        right = getattr(references, name)(*(v.copy() for v in values))
        inputs = dict(zip(task.inputs, values, strict=True))
        known = numbers(task, {}, case.shapes)
        lengths = {g.name: g.example for g in layout.groups}
        assert {g.name: g.size.evaluate(known, lengths) for g in layout.groups} == lengths
        found = run(made.program, layout, inputs, known, Tiles(17, 31))
        for one, wanted in zip(found, right if isinstance(right, tuple) else (right,), strict=True):
            flat = np.asarray(wanted, np.float64).reshape(-1)
            np.testing.assert_allclose(one.reshape(-1), flat, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_made_is_refused_with_a_reason(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=REFUSED[name]):
        made_of(name, tmp_path)


@pytest.mark.parametrize(
    ("name", "dtypes"),
    [
        ("dequant_bias", ["float16"]),
        ("quant_per_token", ["int8", "float32"]),
        ("mean_square", ["float32"]),
        ("relu_grad", ["T"]),
        ("top1_gating", ["T", "int32"]),
    ],
)
def test_an_output_has_the_dtype_that_the_reference_states(
    name: str, dtypes: list[str], tmp_path: Path
) -> None:
    _, made = made_of(name, tmp_path)
    assert [t.dtype for t in made.program.outputs] == dtypes


def test_a_length_that_a_reference_divides_follows_the_shape(tmp_path: Path) -> None:
    _, made = made_of("max_pool_by_reshape", tmp_path)
    assert "GetDim(2) / 2.0" in made.files["op_host/max_pool_by_reshape.cpp"]


def test_whole_numbers_are_of_any_size_unless_the_workload_says_their_range(tmp_path: Path) -> None:
    task, _ = made_of("int_affine", tmp_path)
    assert whole_without_range(task) == ""
    cases = [{"inputs": {"x": {"shape": [8, 9], "dtype": "int32"}}}]
    tracer = LocalTracer(references.int_affine)
    open_task = task_of("", "f", {"cases": cases}, tracer.parameters, tmp_path / "cases.yaml")
    assert whole_without_range(open_task) == "x"


@pytest.mark.parametrize("name", ["mean_square", "layer_norm", "one_hot", "top1_gating"])
def test_a_host_has_no_conditions_that_are_known(name: str, tmp_path: Path) -> None:
    _, made = made_of(name, tmp_path)
    host = made.files[f"op_host/{name}.cpp"]
    assert "narrow &&" not in host and "0 * usedCores" not in host and "+ 1 * " not in host
