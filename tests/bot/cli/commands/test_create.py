"""`ascendopt create` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.main import BAD_INPUT, run

pytestmark = pytest.mark.every_level

GOLDEN = """import numpy as np


def branch(x):
    return np.array([2 * one if one > 0 else one for one in x])
"""
WORKLOAD = "cases:\n- {name: one, inputs: [{shape: [8], dtype: float32}]}\n"


def test_what_cannot_be_traced_is_refused_with_the_option_that_may_help(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "golden.py").write_text(GOLDEN)
    (tmp_path / "workload.yaml").write_text(WORKLOAD)
    words = [str(tmp_path / "golden.py"), "--workload", str(tmp_path / "workload.yaml")]
    assert run(["create", *words, "--out", str(tmp_path / "made")]) == BAD_INPUT
    assert "--proposer llm" in capsys.readouterr().err
    assert not (tmp_path / "made").exists()
