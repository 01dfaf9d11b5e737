import pytest

from ci.system.sandbox import Level
from tests.ci.system.levels import LEVELS


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> Level:
    return request.param  # type: ignore[no-any-return]
