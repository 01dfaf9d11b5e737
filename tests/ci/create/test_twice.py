"""An input whose axis meets another axis of it is read as two tensors of one memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ci.create.operator_files import make
from ci.create.program import Program
from ci.create.task import task_of
from ci.create.twice import MOST_TIMES
from ci.model.errors import InputError
from tests.ci.create.traced import LocalTracer


def normalized_products(x: Any) -> Any:
    z = x / np.sqrt((x * x).sum(-1, keepdims=True))
    return z @ z.T


def as_often(x: Any, times: int) -> Any:
    return sum(x * k + (x * k).T for k in range(1, times + 1))


def as_often_as_can_be(x: Any) -> Any:
    return as_often(x, MOST_TIMES)


def once_more(x: Any) -> Any:
    return as_often(x, MOST_TIMES + 1)


def program(function: Any, folder: Path, shape: list[int]) -> Program:
    """What `create` makes of a function of one input."""
    cases = [{"inputs": {"x": {"shape": shape, "dtype": "float32"}}}]
    tracer = LocalTracer(function)
    (folder / "cases.yaml").write_text("{}")
    name = function.__name__
    task = task_of("", name, {"cases": cases}, tracer.parameters, folder / "cases.yaml")
    return make(task, tracer).program  # type: ignore[arg-type]


def test_what_lies_on_the_way_to_the_meeting_is_computed_of_both_readings(tmp_path: Path) -> None:
    made = program(normalized_products, tmp_path, [9, 12])
    text = made.text()
    assert text.count("= load x [") and text.count("= load x[C, B] [")
    assert text.count("= sqrt(") == 2
    assert [t.name for t in made.inputs] == ["x"]


def test_as_many_readings_are_told_apart_as_are_worth_it(tmp_path: Path) -> None:
    assert "x[B, A]" in program(as_often_as_can_be, tmp_path, [6, 6]).text()
    with pytest.raises(InputError, match="meets another one of the same tensor"):
        program(once_more, tmp_path, [6, 6])
