from __future__ import annotations

import pytest

from ci.backend.pool import capacity, workers
from ci.model.errors import InputError
from ci.model.settings import PoolOptions, pool_of


@pytest.mark.parametrize("spec", ["local", "local:0", "local:two", "ray:", "slurm:4", "4"])
def test_a_pool_that_is_none_is_refused_with_what_there_is(spec: str) -> None:
    with pytest.raises(ValueError, match="local:N with N workers, or ray:ADDRESS"):
        PoolOptions(pool=spec)


def test_a_pool_is_a_kind_with_its_size_or_address() -> None:
    assert pool_of("local:3") == ("local", "3")
    assert pool_of("ray:10.0.0.1:6379") == ("ray", "10.0.0.1:6379")
    assert PoolOptions().pool == ""
    assert capacity("local:3") == 3


def test_the_toolkits_simulator_runs_one_at_a_time_on_a_host() -> None:
    with pytest.raises(InputError, match="one task at a time"), workers("local:2", "camodel"):
        pass
