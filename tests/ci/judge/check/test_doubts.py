"""Which varied cases an operator may not be made for."""

from __future__ import annotations

import pytest

from ci.judge.check.doubts import lengths_part, unlike
from ci.model.workload import TensorCase, WorkloadCase


def case_of(*shapes: tuple[int, ...], dtype: str = "float32") -> WorkloadCase:
    inputs = tuple(TensorCase(shape=shape, dtype=dtype) for shape in shapes)
    return WorkloadCase(name="x".join(map(str, shapes)), inputs=inputs)


@pytest.mark.parametrize(
    ("own", "varied", "part"),
    [
        ([((4, 8), (8,))], ((4, 9), (9,)), False),
        ([((4, 8), (8,))], ((4, 9), (8,)), True),
        ([((4, 8), (8,)), ((4, 8), (1,))], ((4, 9), (8,)), False),  # one of them broadcasts
        ([((4, 8), (8,))], ((2, 2, 8), (9,)), False),  # of no such ranks is anything known
        ([((8, 8),)], ((4, 8),), False),
    ],
)
def test_inputs_part_where_they_differ_in_what_is_equal_in_every_own_case(
    own: list[tuple[tuple[int, ...], ...]], varied: tuple[tuple[int, ...], ...], part: bool
) -> None:
    assert lengths_part([case_of(*shapes) for shapes in own], case_of(*varied)) is part


@pytest.mark.parametrize(
    ("family", "dtype", "doubted"),
    [
        ("range", "int32", True),
        ("range", "float32", False),
        ("magnitude", "int32", False),
        ("empty input", "float32", True),
    ],
)
def test_integers_of_other_ranges_and_empty_inputs_are_unlike_the_own_cases(
    family: str, dtype: str, doubted: bool
) -> None:
    case = case_of((8,), dtype=dtype)
    assert unlike([case], family, case) is doubted
