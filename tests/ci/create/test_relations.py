"""What tracing assumed of shapes and attributes is kept: the host refuses other inputs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ci.create.operator_files import make
from ci.create.task import task_of
from tests.ci.create.traced import LocalTracer


def conditions(
    function: Callable[..., Any], folder: Path, *shapes: dict[str, list[int]], **attrs: float
) -> list[str]:
    """The conditions that the host of an operator checks."""
    file = folder / "cases.yaml"
    file.write_text("{}")
    cases = [
        {
            "inputs": {n: {"shape": s, "dtype": "float32"} for n, s in case.items()},
            "attrs": attrs,
        }
        for case in shapes
    ]
    tracer = LocalTracer(function)
    name = function.__name__
    task = task_of("", name, {"cases": cases}, tracer.parameters, file)
    host = make(task, tracer).files[f"op_host/{name}.cpp"]  # type: ignore[arg-type]
    lines = (line.strip() for line in host.splitlines())
    return [x.removeprefix("if (!(").removesuffix(")) {") for x in lines if x.startswith("if (!(")]


def by_length(x: Any) -> Any:
    return x * 2 if x.shape[0] > 70000 else x + 1


def by_rank(x: Any) -> Any:
    return np.exp(x) if x.ndim <= 4 else x


def by_attribute(x: Any, alpha: float = 1.5) -> Any:
    return x * alpha if alpha <= 500 else x / alpha


def by_parity(x: Any) -> Any:
    return x + 1 if x.shape[-1] % 2 == 0 else x - 1


def meets(x: Any, y: Any) -> Any:
    return x * y + np.maximum(x, y)


def scaled(x: Any, weight: Any) -> Any:
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-6) * weight


def symmetric(x: Any) -> Any:
    return x + x.T


def grouped(x: Any, groups: int = 4) -> Any:
    return x.reshape(x.shape[0], groups, -1).sum(axis=-1)


def quotient(x: Any, a: int = 3, b: int = 2) -> Any:
    return x * (a / b)


@pytest.mark.parametrize(
    ("function", "shapes", "attrs", "wanted"),
    [
        (by_length, {"x": [8, 9]}, {}, "xShape.GetDim(0) <= 70000.0"),
        (by_rank, {"x": [8, 9]}, {}, "static_cast<double>(xShape.GetDimNum()) <= 4.0"),
        (
            by_attribute,
            {"x": [8, 9]},
            {"alpha": 1.5},
            "static_cast<float>(alphaAttr) <= static_cast<float>(500.0)",
        ),
        (
            by_parity,
            {"x": [8, 10]},
            {},
            "(xShape.GetDim(xShape.GetDimNum() - 1) - (std::floor((xShape.GetDim("
            "xShape.GetDimNum() - 1) / 2.0)) * 2.0)) == 0.0",
        ),
        (
            meets,
            {"x": [8, 9], "y": [8, 9]},
            {},
            "SameAxes(yShape, 0, yShape.GetDimNum(), xShape, 0, xShape.GetDimNum())",
        ),
        (
            scaled,
            {"x": [8, 9], "weight": [9]},
            {},
            "SameAxes(weightShape, 0, weightShape.GetDimNum(),"
            " xShape, xShape.GetDimNum() - 1, xShape.GetDimNum())",
        ),
        (
            symmetric,
            {"x": [9, 9]},
            {},
            "SameAxes(xShape, 0, xShape.GetDimNum() - 1, xShape, xShape.GetDimNum() - 1,"
            " xShape.GetDimNum())",
        ),
        (meets, {"x": [8, 9], "y": [8, 1]}, {}, "yShape.GetDim(yShape.GetDimNum() - 1) == 1"),
    ],
)
def test_the_host_refuses_what_the_trace_is_not_for(
    function: Callable[..., Any],
    shapes: dict[str, list[int]],
    attrs: dict[str, float],
    wanted: str,
    tmp_path: Path,
) -> None:
    assert wanted in conditions(function, tmp_path, shapes, **attrs)


def test_an_axis_that_is_cut_must_be_a_product_of_its_parts(tmp_path: Path) -> None:
    (found,) = conditions(grouped, tmp_path, {"x": [8, 12]})
    assert "static_cast<uint64_t>(groupsAttr)" in found
    assert found.endswith("== static_cast<uint64_t>(xShape.GetDim(1))")


def test_cases_on_both_sides_of_a_comparison_need_no_guard(tmp_path: Path) -> None:
    def either(x: Any) -> Any:
        return x + (1 if x.shape[0] > 5 else 1)

    assert conditions(either, tmp_path, {"x": [8, 9]}, {"x": [3, 9]}) == []


def test_whole_attributes_are_divided_as_python_divides_them(tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text("{}")
    case = {"inputs": {"x": {"shape": [8, 9], "dtype": "float32"}}, "attrs": {"a": 3, "b": 2}}
    tracer = LocalTracer(quotient)
    task = task_of("", "quotient", {"cases": [case]}, tracer.parameters, file)
    host = make(task, tracer).files["op_host/quotient.cpp"]  # type: ignore[arg-type]
    assert "static_cast<double>(aAttr) / bAttr" in host
