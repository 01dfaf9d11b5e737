"""What holds for all tests: git as it is delivered, their order, one look at what is collected."""

from __future__ import annotations

import gc
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent

# Nobody's own configuration, and no upkeep of repositories that live for a moment.
GIT = TESTS / "gitconfig"

NIGHTLY_S = 3000
"""Seconds that a whole run may take; the nightly workflow ends the job after an hour."""

SEARCHES = tuple(
    f"{TESTS / name}" for name in ("bot/server/", "bot/cli/", "ascendopt/", "test_packaging.py")
)


# A busy machine is no fault of what is tested.
settings.register_profile("any", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any")


def pytest_configure(config: pytest.Config) -> None:
    os.environ |= {"GIT_CONFIG_GLOBAL": str(GIT), "GIT_CONFIG_NOSYSTEM": "1"}
    # The servers of the tests are on loopback, where no proxy of the machine leads.
    direct = ",".join(filter(None, (os.environ.get("no_proxy"), "127.0.0.1", "localhost")))
    os.environ |= {"no_proxy": direct, "NO_PROXY": direct}


def pytest_xdist_auto_num_workers() -> int:
    """How many `-n auto` stands for: two for each core, as tests wait for processes that begin and
    end. A worker takes up to 1 GB."""
    return min(16, 2 * len(os.sched_getaffinity(0)))


@pytest.hookimpl(tryfirst=True)  # before items are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is behind the first few rows of a table is `long`, and a `nightly` one may take long.
    Files of whole searches go first: begun last, each would keep one worker busy alone."""
    rows = Counter[str]()
    for item in items:
        if few := item.get_closest_marker("few"):
            name = item.nodeid.partition("[")[0]
            rows[name] += 1
            if rows[name] > few.args[0]:
                item.add_marker("long")
        if item.get_closest_marker("nightly") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(NIGHTLY_S))
    items.sort(key=lambda item: not str(item.path).startswith(SEARCHES))


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.collect()
    gc.freeze()
