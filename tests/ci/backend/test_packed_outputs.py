"""Outputs of four bits are judged by element."""

from __future__ import annotations

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.model.trial import Candidate, Outcome
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from tests.places import OPERATORS

KERNEL = "op_kernel/round_to_int4.cpp"


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    operator = load_operator(OPERATORS / "src" / "quant" / "round_to_int4")
    return Evaluator(operator, load_workload(operator), SimulatorBackend("910B4"))


@pytest.mark.parametrize(
    ("new", "outcome"),
    [("CAST_NONE", Outcome.OK), ("CAST_FLOOR", Outcome.WRONG_RESULT)],
)
def test_a_candidate_with_int4_outputs_is_right_or_wrong_in_elements(
    evaluator: Evaluator, new: str, outcome: Outcome
) -> None:
    text = evaluator.operator.read(KERNEL).replace("CAST_RINT", new)
    trial = evaluator.evaluate(Candidate(files={KERNEL: text}), 1)
    assert trial.outcome is outcome, trial.refusal
    if trial.refusal:
        assert "of 131,072 elements" in trial.refusal.sentence
