"""Which varied cases an operator may not be made for."""

from __future__ import annotations

import pytest

from ci.judge.check.doubts import lengths_part
from ci.model.workload import TensorCase, WorkloadCase


def case_of(*shapes: tuple[int, ...]) -> WorkloadCase:
    inputs = tuple(TensorCase(shape=shape, dtype="float32") for shape in shapes)
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
