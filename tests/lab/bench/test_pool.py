from __future__ import annotations

import pytest

from ci.model.errors import InputError
from ci.testing.scale_shift import OPERATOR
from lab.bench.pool import measure
from lab.model.pool import PoolBenchSettings


@pytest.mark.long
def test_every_number_of_workers_makes_all_evaluations() -> None:
    said: list[str] = []
    settings = PoolBenchSettings(workers="1,2", evaluations=4, seconds=0.05)
    rows = measure(settings, OPERATOR, said.append).rows
    assert [(row.workers, row.evaluations) for row in rows] == [(1, 4), (2, 4)]
    assert all(0 < row.efficiency <= 1 for row in rows)
    assert said == ["1 workers", "2 workers"]


@pytest.mark.parametrize("workers", ["", "two", "0,1"])
def test_numbers_that_are_none_are_refused(workers: str) -> None:
    with pytest.raises(InputError, match="--workers cannot be"):
        measure(PoolBenchSettings(workers=workers), OPERATOR, lambda said: None)
