"""On a backend that scatters a trial carries pairs, and comparing trials uses them."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import numpy as np
import pytest

from ci.backend.base import Backend, Build, RunOptions
from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.paired.noise_floor import ENOUGH_RUNS
from ci.judge.paired.noise_store import NoiseStore
from ci.model.comparison import compare
from ci.model.errors import EnvironmentProblem, TrialFailure
from ci.model.launch import CaseRun, Sample, Tensors
from ci.model.operator import Operator
from ci.model.trial import Candidate, Fingerprint, Measurement, Outcome, Refusal
from ci.model.workload import Workload, WorkloadCase
from ci.testing.scale_shift import OPERATOR, WORKLOAD, with_statement

SLOWER = with_statement("for (int i = 0; i < 400; i++) PipeBarrier<PIPE_ALL>();\n")
ONE_CASE = WORKLOAD.model_copy(update={"cases": WORKLOAD.cases[:1], "seeds": WORKLOAD.seeds[:1]})
SAME = with_statement("// a remark\n")


class Scattering(Backend):
    """The simulator behind the noise of a device."""

    scatters = True

    def __init__(self, clock: float = 1.0) -> None:
        self.inner = SimulatorBackend("910B4", launch_seconds=20)
        self.random = np.random.default_rng(0)
        self.clock = clock
        self.ends_after = -1
        """Samples until the device is gone; below 0 it stays."""

    def fingerprint(self) -> Fingerprint:
        return self.inner.fingerprint().model_copy(update={"simulated": False})

    def build(self, operator: Operator, files: dict[str, str], workload: Workload) -> Build:
        return _Build(self, self.inner.build(operator, files, workload))


class _Build(Build):
    def __init__(self, backend: Scattering, inner: Build) -> None:
        self.backend, self.inner = backend, inner
        self.times: dict[str, float] = {}

    def run(
        self, case: WorkloadCase, inputs: Tensors, outputs: Tensors, **how: Unpack[RunOptions]
    ) -> CaseRun:
        return self.inner.run(case, inputs, outputs, **how)

    def sample(
        self, case: WorkloadCase, inputs: Tensors, outputs: Tensors, **how: Unpack[RunOptions]
    ) -> Sample:
        if self.backend.ends_after == 0:
            raise TrialFailure(Outcome.LAUNCH_ERROR, Refusal(sentence="The device is gone."))
        self.backend.ends_after -= 1
        if case.name not in self.times:
            self.times[case.name] = self.run(case, inputs, outputs, **how).samples_us[0]
        noise = self.backend.random.normal(1.0, 0.01)
        return Sample(self.times[case.name] * noise, self.backend.clock)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("ci.judge.paired.noise_store.default_root", lambda: tmp_path)


def measured(evaluator: Evaluator, candidate: Candidate) -> Measurement:
    trial = evaluator.evaluate(candidate, 0)
    assert trial.measurement, trial.refusal
    return trial.measurement


def test_the_baseline_learns_its_floor_and_candidates_are_paired_with_it() -> None:
    backend = Scattering()
    evaluator = Evaluator(OPERATOR, ONE_CASE, backend)
    baseline = measured(evaluator, Candidate())
    assert baseline.paired is None
    assert len(NoiseStore().runs(backend.unit, OPERATOR.name, "")) == ENOUGH_RUNS
    measured(Evaluator(OPERATOR, ONE_CASE, backend), Candidate())
    assert len(NoiseStore().runs(backend.unit, OPERATOR.name, "")) == ENOUGH_RUNS + 1

    slow, same = measured(evaluator, SLOWER), measured(evaluator, SAME)
    assert slow.paired and same.paired
    case = slow.cases[0]
    assert len(case.samples_us) == len(case.against_us) == slow.paired.pairs
    assert compare(baseline, slow).verdict == "worse"
    assert f"{slow.paired.pairs} pairs, noise floor" in compare(baseline, slow).reason
    assert compare(baseline, same).verdict in ("same", "unknown")
    back = compare(slow, baseline)
    assert back.verdict == "improved"
    assert back.speedup == pytest.approx(1 / compare(baseline, slow).speedup)
    assert compare(slow, same).low < back.low  # both were measured, so it is less sure


def test_a_device_that_is_throttled_throughout_is_told() -> None:
    with pytest.raises(EnvironmentProblem, match="not fit to measure on.*throttled"):
        Evaluator(OPERATOR, ONE_CASE, Scattering(clock=0.7)).evaluate(Candidate(), 0)


def test_a_device_that_is_gone_is_not_the_candidates_fault() -> None:
    backend = Scattering()
    evaluator = Evaluator(OPERATOR, ONE_CASE, backend)
    measured(evaluator, Candidate())
    backend.ends_after = 4
    with pytest.raises(EnvironmentProblem, match="ran on case .* before.*The device is gone"):
        # Whose sample is first is a coin's: one of these begins a pair with the operator.
        for words in "abcd":
            failed = evaluator.evaluate(with_statement(f"// {words}\n"), 1)
            assert failed.outcome is Outcome.LAUNCH_ERROR
            backend.ends_after = 0
