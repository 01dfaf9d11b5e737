from __future__ import annotations

import pytest

from ci.model.trial import Trial
from ci.testing.proposer import BASELINE, SLOWER_TRIAL


@pytest.fixture
def baseline() -> Trial:
    return BASELINE


@pytest.fixture
def slower() -> Trial:
    return SLOWER_TRIAL
