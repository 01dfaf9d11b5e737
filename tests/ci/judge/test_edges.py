"""Edge cases: which are made, and how a candidate is judged on them."""

from __future__ import annotations

import numpy as np
import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.edges import edge_cases
from ci.judge.evaluate import EvaluationSettings, Evaluator
from ci.model.errors import TrialFailure
from ci.model.operator import Operator
from ci.model.trial import Candidate, Outcome, Trial
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source.inputs import draw_inputs
from ci.testing.scale_shift import OPERATOR, WORKLOAD, changed


def shapes(cases: list[WorkloadCase]) -> list[tuple[int, ...]]:
    return [c.inputs[0].shape for c in cases if isinstance(c.inputs[0], TensorCase)]


def test_kinds_come_in_turns_and_no_more_than_asked() -> None:
    cases = edge_cases(OPERATOR, WORKLOAD, 3)
    assert len(cases) == 3
    assert shapes(cases)[0][-1] == 1
    special = cases[1].inputs[0]
    assert isinstance(special, TensorCase) and special.distribution == "special"


def test_lengths_go_around_a_block_to_primes_and_to_nothing() -> None:
    first = WORKLOAD.cases[0].inputs[0]
    assert isinstance(first, TensorCase)
    last = first.shape[-1]
    lengths = {s[-1] for s in shapes(edge_cases(OPERATOR, WORKLOAD, 50))}
    assert {1, 0, last - 8, last + 8, 97, 1009} <= lengths


def test_every_declared_dtype_is_tried_once() -> None:
    spec = OPERATOR.inputs[0].model_copy(update={"dtypes": ("float32", "float16", "int4")})
    wide = OPERATOR.model_copy(update={"inputs": (spec, *OPERATOR.inputs[1:])})
    assert isinstance(wide, Operator)
    used = [c.inputs[0].dtype for c in edge_cases(wide, WORKLOAD, 50)
            if isinstance(c.inputs[0], TensorCase)]  # fmt: skip
    assert used.count("float16") == 1
    assert "int4" not in used


def test_given_values_keep_their_shapes() -> None:
    given = TensorCase(shape=(3,), dtype="float32", values=(1, 2, 3))
    case = WorkloadCase(name="given", inputs=(given,))
    workload = Workload(operator="X", cases=(case,), folder=WORKLOAD.folder)
    assert edge_cases(OPERATOR, workload, 9) == []


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_special_inputs_hold_what_is_no_ordinary_number(dtype: str) -> None:
    spec = TensorCase(shape=(1000,), dtype=dtype, distribution="special")
    (drawn,) = draw_inputs(WorkloadCase(name="x", inputs=(spec,)), 1)
    assert isinstance(drawn, np.ndarray)
    wide = (drawn.astype(np.uint32) << 16).view(np.float32) if dtype == "bfloat16" else drawn
    values = wide.astype(np.float64)
    assert np.isnan(values).any() and np.isposinf(values).any() and np.isneginf(values).any()
    assert np.signbit(values[values == 0]).any()
    assert (np.isfinite(values) & (values != 0)).mean() > 0.7


@pytest.fixture(scope="module")
def judge() -> Evaluator:
    return Evaluator(OPERATOR, WORKLOAD, SimulatorBackend("910B4"), settings=EvaluationSettings())


def test_the_operator_as_it_stands_passes_or_its_defects_are_told(judge: Evaluator) -> None:
    found = judge.confirm(Trial(number=1, candidate=Candidate(), outcome=Outcome.OK))
    assert found.edge_cases + len(found.baseline_defects) > 0
    assert all(": " in defect for defect in found.baseline_defects)


def test_what_is_right_only_on_finite_numbers_is_refused(judge: Evaluator) -> None:
    add = "Adds(out, out, 1.0f, tileLength_);"
    clamp = "Mins(out, out, 3e38f, tileLength_); PipeBarrier<PIPE_V>(); "
    candidate = changed(add, clamp + add)
    assert judge.evaluate(candidate, 1).outcome is Outcome.OK
    with pytest.raises(TrialFailure, match="NaN and infinities"):
        judge.confirm(Trial(number=1, candidate=candidate, outcome=Outcome.OK))
