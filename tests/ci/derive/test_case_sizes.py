"""A large case made smaller keeps how its lengths are related."""

from __future__ import annotations

from ci.derive.case_sizes import LEAST_LENGTH, halved
from ci.model.workload import TensorCase, WorkloadCase


def tensor(*shape: int, values: tuple[int, ...] | None = None) -> TensorCase:
    return TensorCase(shape=shape, dtype="int64" if values else "float16", values=values)


def test_the_longest_dimension_is_halved_everywhere_with_the_lengths_that_end_with_it() -> None:
    lens = tensor(2, values=(512, 1024))
    case = WorkloadCase(
        name="c",
        inputs=(tensor(1024, 8, 96), (tensor(256, 8), tensor(1024, 8)), lens),
        outputs=(tensor(1024, 8),),
    )
    first, second, *_ = halved(case)
    assert [t.shape for t in first.inputs if isinstance(t, TensorCase)] == [(512, 8, 96), (2,)]
    assert first.inputs[1] == (tensor(256, 8), tensor(512, 8))
    assert first.inputs[2] == tensor(2, values=(256, 512))
    assert first.outputs == (tensor(512, 8),)
    assert second.inputs[1] == (tensor(256, 8), tensor(256, 8))


def test_short_and_odd_dimensions_stay() -> None:
    case = WorkloadCase(name="c", inputs=(tensor(LEAST_LENGTH, 77),))
    assert list(halved(case)) == []
    (*_, last) = halved(WorkloadCase(name="c", inputs=(tensor(4096, 77),)))
    assert last.inputs == (tensor(LEAST_LENGTH, 77),)
