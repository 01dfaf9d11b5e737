"""Further cases made from a workload's: near shapes, and cases at the edge."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from ci.judge.varied import edge_cases, other_shapes
from ci.model.operator import Operator
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source.inputs import draw_inputs
from ci.testing.scale_shift import OPERATOR, WORKLOAD


def case(*shapes: tuple[int, ...], values: tuple[float, ...] | None = None) -> WorkloadCase:
    tensors = tuple(TensorCase(shape=s, dtype="float32") for s in shapes)
    if values is not None:
        given = TensorCase(shape=(len(values),), dtype="int32", values=values)
        tensors = (*tensors, given)
    return WorkloadCase(name="c", inputs=tensors)


def shapes_of(*cases: WorkloadCase) -> list[list[tuple[int, ...]]]:
    workload = Workload(operator="X", cases=cases, folder=Path())
    return [
        [t.shape for t in found.inputs if isinstance(t, TensorCase)]
        for found in other_shapes(workload)
    ]


def test_a_dimension_changes_in_all_inputs_that_have_it() -> None:
    assert [(101, 24), (24,)] in shapes_of(case((100, 24), (24,)))
    assert [(100, 40), (40,)] in shapes_of(case((100, 24), (24,)))


def test_dimensions_of_given_values_stay() -> None:
    for x, index in shapes_of(case((8, 3), values=(0.0, 1.0, 2.0))):
        assert index == (3,)
        assert x[1] == 3
        assert x[0] != 8


def test_cases_take_turns() -> None:
    found = shapes_of(case((100, 24)), case((50, 8)))
    assert found[0][0] == (101, 24)
    assert found[1][0] == (51, 8)


def shapes(cases: Iterable[WorkloadCase]) -> list[tuple[int, ...]]:
    return [c.inputs[0].shape for c in cases if isinstance(c.inputs[0], TensorCase)]


def test_kinds_come_in_turns() -> None:
    cases = list(islice(edge_cases(OPERATOR, WORKLOAD), 3))
    assert shapes(cases)[0][-1] == 1
    special = cases[1].inputs[0]
    assert isinstance(special, TensorCase) and special.distribution == "special"


def test_lengths_go_around_a_block_to_primes_and_to_nothing() -> None:
    first = WORKLOAD.cases[0].inputs[0]
    assert isinstance(first, TensorCase)
    last = first.shape[-1]
    lengths = {s[-1] for s in shapes(edge_cases(OPERATOR, WORKLOAD))}
    assert {1, 0, last - 8, last + 8, 97, 1009} <= lengths


def test_every_declared_dtype_is_tried_once() -> None:
    spec = OPERATOR.inputs[0].model_copy(update={"dtypes": ("float32", "float16", "int4")})
    wide = OPERATOR.model_copy(update={"inputs": (spec, *OPERATOR.inputs[1:])})
    assert isinstance(wide, Operator)
    used = [c.inputs[0].dtype for c in edge_cases(wide, WORKLOAD)
            if isinstance(c.inputs[0], TensorCase)]  # fmt: skip
    assert used.count("float16") == 1
    assert "int4" not in used


def test_given_values_keep_their_shapes() -> None:
    given = TensorCase(shape=(3,), dtype="float32", values=(1, 2, 3))
    case = WorkloadCase(name="given", inputs=(given,))
    workload = Workload(operator="X", cases=(case,), folder=WORKLOAD.folder)
    assert list(edge_cases(OPERATOR, workload)) == []


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_special_inputs_hold_what_is_no_ordinary_number(dtype: str) -> None:
    spec = TensorCase(shape=(1000,), dtype=dtype, distribution="special")
    (drawn,) = draw_inputs(WorkloadCase(name="x", inputs=(spec,)), 1)
    assert isinstance(drawn, np.ndarray)
    wide = (drawn.astype(np.uint32) << 16).view(np.float32) if dtype == "bfloat16" else drawn
    values = wide.astype(np.float64)
    assert np.isnan(values).any() and np.isposinf(values).any() and np.isneginf(values).any()
    assert np.signbit(values[values == 0]).any()
    assert (np.isfinite(values) & (values != 0)).mean() > 0.7
