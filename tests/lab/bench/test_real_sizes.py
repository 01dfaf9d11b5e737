"""Small workloads become as large as those of real models, along one dimension of each case."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.errors import InputError
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source.discovery import load_operator
from lab.bench.real_sizes import at_size

SAMPLE = Path(__file__).parents[3] / "examples" / "sample_repository" / "src"


def of(*cases: WorkloadCase) -> Workload:
    return Workload(operator="RmsNormRows", cases=cases, folder=SAMPLE)


def case(*shapes: tuple[int, ...], **attrs: int) -> WorkloadCase:
    inputs = tuple(TensorCase(shape=shape, dtype="float32") for shape in shapes)
    return WorkloadCase(name="own", inputs=inputs, outputs=inputs[:1], attrs=attrs)


def shapes(workload: Workload) -> list[tuple[int, ...]]:
    return [t.shape for c in workload.cases for t in c.inputs if isinstance(t, TensorCase)]


@pytest.fixture(scope="module")
def operator():
    return load_operator(SAMPLE / "norm" / "rms_norm_rows")


def test_the_first_dimension_grows_until_there_are_as_many_elements(operator) -> None:
    grown = at_size(operator, of(case((6, 96), (96,))), 10_000, lambda _: True)
    assert shapes(grown) == [(105, 96), (96,)]


def test_what_belongs_to_the_dimension_grows_with_it(operator) -> None:
    grown = at_size(operator, of(case((6, 96), (6, 1), rows=6)), 10_000, lambda _: True)
    assert shapes(grown) == [(105, 96), (105, 1)]
    assert grown.cases[0].attrs == {"rows": 105}


def test_an_operator_that_wants_whole_blocks_gets_them(operator) -> None:
    def takes(tried: WorkloadCase) -> bool:
        return shapes(of(tried))[0][0] % 8 == 0

    grown = at_size(operator, of(case((8, 96), (96,))), 10_000, takes)
    assert shapes(grown) == [(112, 96), (96,)]


def test_another_dimension_grows_where_the_first_one_is_fixed(operator) -> None:
    def takes(tried: WorkloadCase) -> bool:
        return shapes(of(tried))[0][0] == 6

    grown = at_size(operator, of(case((6, 96), (6, 1))), 10_000, takes)
    assert shapes(grown) == [(6, 1667), (6, 1)]


def test_a_case_that_is_large_enough_stays(operator) -> None:
    large = of(case((200, 96), (96,)))
    assert at_size(operator, large, 10_000, lambda _: False) == large


def test_cases_that_cannot_grow_are_left_out(operator) -> None:
    both = of(case((200, 96), (96,)), case((6, 96), (96,)))
    assert at_size(operator, both, 10_000, lambda _: False).cases == both.cases[:1]
    with pytest.raises(InputError, match="takes no case of its workload with 10000 elements"):
        at_size(operator, of(case((6, 96), (96,))), 10_000, lambda _: False)
