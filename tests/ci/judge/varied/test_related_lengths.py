"""Which lengths of cases belong together."""

from __future__ import annotations

import pytest

from ci.judge.varied.related_lengths import lengths_part
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
        ([((1, 20, 4, 4), (20,), (20,))], ((1, 20, 4, 4), (1,), (1,)), True),  # one a channel
        ([((1, 20, 4, 4), (20,), (20,))], ((1, 6, 4, 4), (6,), (6,)), False),
        ([((8, 8), (8,))], ((4, 8), (8,)), False),  # the last dimension is as long, too
        ([((2, 16), (2, 32))], ((2, 16), (2, 33)), True),  # the halves of a gated unit
        ([((2, 16), (2, 32))], ((2, 17), (2, 34)), False),
        ([((2, 16), (2, 32)), ((2, 16), (2, 48))], ((2, 16), (2, 33)), False),
        ([((16,), (32,))], ((16,), (33,)), False),  # two lists of any lengths
    ],
)
def test_inputs_part_where_they_differ_in_what_is_equal_in_every_own_case(
    own: list[tuple[tuple[int, ...], ...]], varied: tuple[tuple[int, ...], ...], part: bool
) -> None:
    assert lengths_part([case_of(*shapes) for shapes in own], case_of(*varied)) is part


@pytest.mark.parametrize(("values", "part"), [((0,), True), (tuple(range(8)), False)])
def test_one_value_for_all_elements_leaves_the_length_to_the_other_input(
    values: tuple[int, ...], part: bool
) -> None:
    def given(rows: int) -> WorkloadCase:
        index = TensorCase(shape=(8,), dtype="int32", values=values)
        one = case_of((rows, 5))
        return one.model_copy(update={"inputs": (*one.inputs, index)})

    assert lengths_part([given(8)], given(40)) is part
