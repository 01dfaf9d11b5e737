from __future__ import annotations

import pytest

from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates.other_shapes import OtherShapesGate
from ci.model.trial import Candidate, Outcome, Trial
from ci.model.workload import TensorCase
from ci.testing.gate import GateContract
from ci.testing.scale_shift import HOST, changed

WIDER = changed("TILE_LENGTH = 1024", "TILE_LENGTH = 4096", HOST)
FEWER_CORES = changed("BLOCK_DIM = 4", "BLOCK_DIM = 1", HOST)


class TestOtherShapesGate(GateContract):
    gate = OtherShapesGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        """A tile that fits only the workload."""
        return evaluator.subject(WIDER)


def test_shapes_that_the_operator_handles_are_kept(
    evaluator: Evaluator, unmodified: Subject
) -> None:
    assert OtherShapesGate().check(unmodified) is None
    cases = [launched.case for _, launched in unmodified.work.sweeps["admit"].cases]
    shapes = [c.inputs[0].shape for c in cases if isinstance(c.inputs[0], TensorCase)]
    assert any(rows % 16 for rows, _ in shapes)
    assert all(columns % 1024 == 0 for _, columns in shapes)  # only whole tiles


def test_a_harmless_change_passes(evaluator: Evaluator) -> None:
    harmless = changed("        PipeBarrier<PIPE_V>();", "\nPipeBarrier<PIPE_V>();")
    assert OtherShapesGate().check(evaluator.subject(harmless)) is None


def test_a_tile_that_fits_only_the_workload_is_found_out(evaluator: Evaluator) -> None:
    failure = OtherShapesGate().check(evaluator.subject(WIDER))
    assert failure and "it fails" in failure.refusal.sentence
    assert failure.refusal.place.case.startswith("fp32_16x4096 with ")


def test_a_tiling_that_is_much_slower_elsewhere_is_found_out(evaluator: Evaluator) -> None:
    failure = OtherShapesGate().check(evaluator.subject(FEWER_CORES))
    assert failure and "it is slower by" in failure.refusal.sentence


def test_what_is_right_on_the_workloads_values_alone_is_found_out(evaluator: Evaluator) -> None:
    add = "Adds(out, out, 1.0f, tileLength_);"
    clipped = changed(add, f"{add}\nPipeBarrier<PIPE_V>();\nMins(out, out, 5.5f, tileLength_);")
    assert evaluator.evaluate(clipped, 1).outcome is Outcome.OK
    failure = OtherShapesGate().check(evaluator.subject(clipped))
    assert failure and failure.refusal.sentence.startswith("With another range than the workload's")


def test_an_unfit_trial_keeps_its_measurement_and_is_not_asked_again(evaluator: Evaluator) -> None:
    baseline = evaluator.evaluate(Candidate(), 0)
    trial = evaluator.evaluate(WIDER, 1)
    assert trial.outcome is Outcome.OK
    unfit = evaluator.admit(trial, baseline, baseline)
    assert unfit.outcome is Outcome.UNFIT
    assert unfit.measurement == trial.measurement
    assert unfit.refusal and unfit.refusal.gate == "other_shapes"
    assert {"warnings", "unordered"} <= set(unfit.gates)
    assert evaluator.admit(unfit, baseline, baseline) is unfit
    spared: Trial = evaluator.admit(trial, baseline, baseline, without=["other_shapes"])
    assert spared.outcome is Outcome.OK
    assert "other_shapes" not in spared.gates
