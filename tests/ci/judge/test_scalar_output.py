"""An output of shape () is judged like any other, from the golden to the verdict."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.model.trial import Candidate
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload

SUM_SQUARES = Path(__file__).parents[2] / "operators/src/math/sum_squares"
GOLDEN = """
import numpy as np

def f(x):
    return np.asarray(np.sum(x.astype(np.float64) ** 2){more}, np.float32)
"""
WORKLOAD = """
golden: golden.py:f
cases:
  - name: scalar
    inputs: [{shape: [64, 128], dtype: float32}]
    outputs: [{shape: [], dtype: float32}]
"""


@pytest.mark.parametrize(("more", "outcome"), [("", "ok"), (" + 9", "wrong_result")])
def test_a_scalar_output_is_right_or_wrong(tmp_path: Path, more: str, outcome: str) -> None:
    folder = tmp_path / "sum_squares"
    shutil.copytree(SUM_SQUARES, folder)
    (folder / "golden.py").write_text(GOLDEN.format(more=more))
    (folder / "workload.yaml").write_text(WORKLOAD)
    operator = load_operator(folder)
    workload = load_workload(operator, folder / "workload.yaml")
    trial = Evaluator(operator, workload, SimulatorBackend("910B4")).evaluate(Candidate(), 0)
    assert trial.outcome == outcome
    if trial.refusal is not None:
        assert "wrong in 1 of 1 element; worst at []" in trial.refusal.sentence
