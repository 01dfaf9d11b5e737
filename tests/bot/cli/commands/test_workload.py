"""`ascendopt workload`: what it says where there is nothing to do."""

from __future__ import annotations

import pytest

from bot.cli.main import run
from tests.places import OPERATORS


def test_deriving_where_each_operator_has_a_workload_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["workload", "derive", str(OPERATORS / "src" / "math" / "bias_add")]) == 0
    assert "each of the operators has a workload" in capsys.readouterr().out
