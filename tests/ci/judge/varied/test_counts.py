"""Numbers that outputs are as long as, and what is varied in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from math import prod
from pathlib import Path

from ci.judge.varied.base import Known, tensors
from ci.judge.varied.counts import MOST_OUTPUTS, Counts, counts
from ci.judge.varied.regimes import Answered, regimes_of
from ci.model.operator import AttrSpec
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.testing.scale_shift import OPERATOR

TILE = 100


def known(outputs: Callable[[WorkloadCase], int], case: WorkloadCase) -> Known:
    """The case of an operator with two attributes, `size` and `axis`, whose outputs InferShape
    tells."""
    attrs = (AttrSpec(name="size", type="int"), AttrSpec(name="axis", type="int"))
    operator = OPERATOR.model_copy(update={"attrs": attrs})
    workload = Workload(operator="X", cases=(case,), folder=Path())

    def told(cases: Sequence[WorkloadCase]) -> list[int | None]:
        return [outputs(one) if outputs(one) >= 0 else None for one in cases]

    return Known(operator, workload, lambda _: True, inferred=True, outputs_of=told)


def sized(size: int = 1, axis: int = 1, values: tuple[int, ...] = ()) -> WorkloadCase:
    tensor = TensorCase(shape=(max(1, len(values)),), dtype="float32", values=values or None)
    output = TensorCase(shape=(size,), dtype="float32")
    attrs = {"size": size, "axis": axis}
    return WorkloadCase(name="c", inputs=(tensor,), outputs=(output,), attrs=attrs)


def size_of(case: WorkloadCase) -> int:
    size = case.attrs["size"]
    assert isinstance(size, int)
    return size


def second_value(case: WorkloadCase) -> int:
    value = (tensors(case)[0].values or ())[1]
    assert isinstance(value, int)
    return value


def test_an_attribute_that_outputs_are_as_long_as_is_a_count_and_no_other() -> None:
    (found,) = counts(known(size_of, sized(size=5)), sized(size=5))
    (longer,) = found.cases([5, 70])
    assert found.value == 5
    assert longer.attrs == {"size": 70, "axis": 1}
    assert not longer.outputs  # InferShape tells them


def test_a_given_value_that_outputs_are_as_long_as_is_a_count() -> None:
    case = sized(values=(3, 4, 5))
    found = counts(known(second_value, case), case)
    assert [count.value for count in found] == [4]
    (other,) = found[0].cases([9])
    assert tensors(other)[0].values == (3, 9, 5)


def test_numbers_are_no_counts_where_nothing_tells_how_long_outputs_are() -> None:
    case = sized()
    assert not counts(dataclasses.replace(known(size_of, case), inferred=False), case)
    assert not counts(known(lambda _: -1, case), case)


def test_a_count_becomes_so_long_that_several_tiles_are_needed_but_not_without_end() -> None:
    case = sized(size=3)
    of_thousands = known(lambda one: size_of(one) * 10_000, case)
    made = [size_of(one) for ladder in Counts().ladders(of_thousands) for one in ladder]
    assert max(made) > TILE
    assert max(made) * 10_000 <= MOST_OUTPUTS


def test_a_regime_that_only_longer_outputs_have_is_found() -> None:
    def host(cases: Sequence[WorkloadCase]) -> list[Answered | None]:
        return [Answered(1 if size_of(one) <= TILE else 2, 1, "") for one in cases]

    found = regimes_of(known(size_of, sized()), host, most=1 << 22)
    least = {regime.tiling_key: size_of(cases[0]) for regime, cases in found.items()}
    assert least[1] <= TILE < least[2] < 2 * TILE


def test_an_attribute_that_shortens_outputs_may_grow_as_far() -> None:
    case = sized(size=3)
    (found,) = counts(known(lambda one: prod((1000, max(0, 10 - size_of(one)))), case), case)
    assert found.most > found.value
