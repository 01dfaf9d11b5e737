"""What holds for all tests: git as it is delivered, and no second look at what was collected."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

# Nobody's own configuration, and no upkeep of repositories that live for a moment.
GIT = Path(__file__).with_name("gitconfig")


def pytest_configure(config: pytest.Config) -> None:
    os.environ |= {"GIT_CONFIG_GLOBAL": str(GIT), "GIT_CONFIG_NOSYSTEM": "1"}


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.collect()
    gc.freeze()
