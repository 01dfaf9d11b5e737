"""What holds for all tests: git as it is delivered, their order, one look at what is collected."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent

# Nobody's own configuration, and no upkeep of repositories that live for a moment.
GIT = TESTS / "gitconfig"

SEARCHES = [TESTS / name for name in ("bot/server", "bot/cli", "ascendopt", "test_packaging.py")]


# A busy machine is no fault of what is tested.
settings.register_profile("any", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any")


def pytest_configure(config: pytest.Config) -> None:
    os.environ |= {"GIT_CONFIG_GLOBAL": str(GIT), "GIT_CONFIG_NOSYSTEM": "1"}


def pytest_xdist_auto_num_workers() -> int:
    """How many `-n auto` stands for: two for each core, as tests wait for processes that begin and
    end. A worker takes up to 1 GB."""
    return min(16, 2 * len(os.sched_getaffinity(0)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files of whole searches first: begun last, each would keep one worker busy alone."""
    items.sort(key=lambda item: not any(item.path.is_relative_to(room) for room in SEARCHES))


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.collect()
    gc.freeze()
