from __future__ import annotations

from pathlib import Path

import pytest

from tests.bot.operator_repository import Repository, operator_repository
from tests.bot.server.ci_runs import Ci


@pytest.fixture
def ops(tmp_path: Path) -> Repository:
    return operator_repository(tmp_path)


@pytest.fixture
def ci(ops: Repository) -> Ci:
    return Ci(ops)
