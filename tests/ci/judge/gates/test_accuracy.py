from __future__ import annotations

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.accuracy import AccuracyGate
from ci.model.trial import Candidate, Outcome
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from ci.testing.gate import GateContract
from ci.testing.scale_shift import KERNEL, changed
from tests.places import OPERATORS

ADDS = "Adds(out, out, 1.0f, tileLength_);"
SOFTMAX = OPERATORS / "src" / "activation" / "softmax_rows"


class TestAccuracyGate(GateContract):
    gate = AccuracyGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        """Within the absolute tolerance of 1e-5, but 30 ulp off near 1."""
        return evaluator.subject(changed(ADDS, "Adds(out, out, 1.000004f, tileLength_);"))


def test_another_order_of_operations_passes(evaluator: Evaluator) -> None:
    """x + x + 1 in place of 2x + 1."""
    other = changed("Muls(out, in, 2.0f, tileLength_);", "Add(out, in, in, tileLength_);")
    assert AccuracyGate().check(evaluator.subject(other)) is None


def test_what_another_order_loses_where_terms_cancel_is_forgiven(evaluator: Evaluator) -> None:
    """(x + 1) + x near x = -1/2: an input that is off by half an ulp would move it as much."""
    first = changed("Muls(out, in, 2.0f, tileLength_);", "Adds(out, in, 1.0f, tileLength_);")
    text = first.files[KERNEL]
    assert ADDS in text
    other = Candidate(files={KERNEL: text.replace(ADDS, "Add(out, out, in, tileLength_);")})
    subject = evaluator.subject(other)
    (found,) = subject.launched.accuracy or ()
    assert max(worst.ulps for worst in found.binades.values()) > 20
    assert AccuracyGate().check(subject) is None


def test_only_outputs_that_differ_from_the_unmodified_operators_are_judged(
    evaluator: Evaluator,
) -> None:
    same = evaluator.subject(changed("Adds(out, out, 1.0f", "Adds(out, out, 2.0f - 1.0f"))
    assert same.launched.accuracy is None and same.launched.compared.agrees
    other = changed("Muls(out, in, 2.0f, tileLength_);", "Muls(out, in, 2.0000002f, tileLength_);")
    (found,) = evaluator.subject(other).launched.accuracy or ()
    assert found.count and max(worst.ulps for worst in found.binades.values()) > 0.5


@pytest.mark.long
def test_float16_results_below_the_absolute_tolerance_may_not_vanish() -> None:
    operator = load_operator(SOFTMAX)
    evaluator = Evaluator(operator, load_workload(operator, None), SimulatorBackend("910B4"))
    file, scale = "op_kernel/softmax_rows_base.h", "Muls(value, value, scale, count);"
    lost = f"{scale} Adds(value, value, -9.0e-4f, count); Relu(value, value, count);"
    text = operator.read(file)
    assert scale in text
    trial = evaluator.evaluate(Candidate(files={file: text.replace(scale, lost)}), 1)
    assert trial.outcome is Outcome.WRONG_RESULT
    assert trial.refusal and trial.refusal.gate == "accuracy"
