"""The whole backend against stand-ins of the toolkit's programs, which refuse unknown options.

What each option is checked against stands in the stand-ins' own docstrings (`standin/`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ci.backend import make_backend
from ci.backend.base import Backend
from ci.backend.cann.profiler import profile
from ci.judge.evaluate import Evaluator
from ci.judge.paired.noise_floor import ENOUGH_RUNS, AARun
from ci.judge.paired.noise_store import NoiseStore
from ci.judge.profile import write_profile
from ci.model.errors import EnvironmentProblem, InputError, TrialFailure
from ci.model.launch import CaseRun
from ci.model.operator import Operator
from ci.model.trial import Candidate, CaseMeasurement, Measurement, Outcome, PipeTime
from ci.source.inputs import draw_inputs
from ci.system.sandbox import Limits
from ci.testing.backend import BackendContract
from ci.testing.scale_shift import KERNEL, OPERATOR, WORKLOAD
from tests.ci.backend.cann.standin.toolkit import NPU_SMI, install_npu_smi, make_repository

CASE = WORKLOAD.cases[0]
ONE_CASE = WORKLOAD.model_copy(update={"seeds": WORKLOAD.seeds[:1]})


class TestContract(BackendContract):
    """What the evaluator relies on, of the two that build any operator."""

    finds_races = False

    @pytest.fixture(params=["cann-direct", "camodel"])
    def backend(self, request: pytest.FixtureRequest, machine: Path) -> Backend:
        return make_backend(request.param, "910B4")


@pytest.fixture(params=["cann-ops", "ops-math", "direct"])
def way(request: pytest.FixtureRequest, machine: Path, tmp_path: Path) -> tuple[Backend, Operator]:
    """A backend with an operator that it can build: by each kind of build.sh, and without one."""
    if request.param == "direct":
        return make_backend("cann-direct", "910B4"), OPERATOR
    return make_backend("cann", "910B4"), make_repository(tmp_path / "repository", request.param)


def with_text(operator: Operator, text: str, old: str = "public:") -> dict[str, str]:
    """The kernel with a text put before the first `old`."""
    return {KERNEL: operator.read(KERNEL).replace(old, f"{text}\n{old}", 1)}


def launch(backend: Backend, operator: Operator, files: dict[str, str]) -> CaseRun:
    """Build and run once."""
    build = backend.build(operator, files, WORKLOAD)
    return build.run(CASE, draw_inputs(CASE, 1), [np.zeros((16, 4096), np.float32)])


def refused(backend: Backend, operator: Operator, files: dict[str, str]) -> TrialFailure:
    """How building or running it fails."""
    with pytest.raises(TrialFailure) as caught:
        launch(backend, operator, files)
    return caught.value


def test_an_operator_is_built_run_and_profiled(way: tuple[Backend, Operator]) -> None:
    run = launch(*way, {})
    expected = np.asarray(draw_inputs(CASE, 1)[0], np.float32) * 2 + 1
    np.testing.assert_allclose(np.asarray(run.outputs[0]), expected, rtol=1e-6)
    assert run.samples_us[0] == pytest.approx(20.0, rel=0.1)
    assert run.pipes.busy_cycles["MTE2"] == pytest.approx(5.0 * 1650)
    assert run.pipes.block_dim == 4


@pytest.mark.long
def test_a_profile_keeps_the_devices_own_tables(
    way: tuple[Backend, Operator], tmp_path: Path
) -> None:
    backend, operator = way
    timelines = tmp_path / "timelines"
    pipes = PipeTime(total_cycles=1, block_dim=4, busy_cycles={})
    measured = CaseMeasurement(
        case="a b", samples_us=(20.0,), median_us=20, low_us=20, high_us=20, pipes=pipes
    )
    build = backend.build(operator, {}, WORKLOAD)
    output = [np.zeros((16, 4096), np.float32)]
    build.run(CASE, draw_inputs(CASE, 1), output, timeline=timelines / "0.jsonl")
    measurement = Measurement(fingerprint=backend.fingerprint(), cases=(measured,))
    _, tables = write_profile("scale_shift", measurement, timelines, tmp_path / "out")
    assert [path.relative_to(tmp_path / "out").as_posix() for path in tables] == [
        "a_b/OpBasicInfo.csv",
        "a_b/PipeUtilization.csv",
    ]
    assert "vector0" in tables[1].read_text()


def test_a_compiler_error_has_its_place(way: tuple[Backend, Operator]) -> None:
    files = with_text(way[1], "no_such_name")
    failure = refused(*way, files)
    assert failure.outcome is Outcome.COMPILE_ERROR
    lines = files[KERNEL].splitlines()
    assert failure.refusal.place.line == lines.index("no_such_name") + 1
    assert failure.refusal.place.file == KERNEL
    assert "undeclared identifier" in failure.refusal.message


@pytest.mark.parametrize(
    ("word", "outcome", "said"),
    [
        ("crash", Outcome.LAUNCH_ERROR, "aicore exception"),
        ("nothing", Outcome.LAUNCH_ERROR, "no operator matched"),
        ("partial", Outcome.LAUNCH_ERROR, ""),
        ("hang", Outcome.TIMEOUT, ""),
    ],
)
def test_a_launch_that_fails_is_an_outcome_with_what_the_tools_said(
    word: str,
    outcome: Outcome,
    said: str,
    machine: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = Limits(seconds=0.5, memory_bytes=1 << 46, processes=256, files=4096)
    if word == "hang":
        defaults = {**profile.__kwdefaults__, "limits": limits}
        monkeypatch.setattr(profile, "__kwdefaults__", defaults)
    files = with_text(OPERATOR, f"// stand-in: {word}")
    failure = refused(make_backend("cann-direct", "910B4"), OPERATOR, files)
    assert failure.outcome is outcome
    assert said in failure.refusal.evidence


def test_samples_tell_the_clock_and_who_else_uses_the_device(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = make_backend("cann-direct", "910B4")
    build = backend.build(OPERATOR, with_text(OPERATOR, "// stand-in: throttled"), WORKLOAD)
    output = [np.zeros((16, 4096), np.float32)]
    sample = build.sample(CASE, draw_inputs(CASE, 1), output)
    assert (sample.clock, sample.contended) == (pytest.approx(0.8), False)
    install_npu_smi(tmp_path / "tools", NPU_SMI.replace("| 1       0  ", "| 0       0  "))
    assert build.sample(CASE, draw_inputs(CASE, 1), output).contended


def test_a_run_at_a_low_clock_is_made_again(machine: Path) -> None:
    backend = make_backend("cann-direct", "910B4")
    run = launch(backend, OPERATOR, with_text(OPERATOR, "// stand-in: slow at first"))
    assert len(run.samples_us) == 3
    assert max(run.samples_us) < 22
    run = launch(backend, OPERATOR, with_text(OPERATOR, "// stand-in: throttled"))
    assert min(run.samples_us) > 22


@pytest.mark.long
def test_a_candidate_is_judged_in_pairs_on_the_device(machine: Path, tmp_path: Path) -> None:
    operator = make_repository(tmp_path / "repository", "ops-math")
    backend = make_backend("cann", "910B4")
    for _ in range(ENOUGH_RUNS - 1):  # as earlier runs would have left them
        run = AARun(mean=0.001, error=0.002)
        NoiseStore().add(backend.unit, operator.name, {"": run, CASE.name: run})
    evaluator = Evaluator(operator, ONE_CASE, backend)
    barrier = "            PipeBarrier<PIPE_V>();"
    slower = {KERNEL: operator.read(KERNEL).replace(barrier, barrier.replace("_V", "_ALL"), 1)}
    assert evaluator.evaluate(Candidate(), 0).measurement
    trial = evaluator.evaluate(Candidate(files=slower), 1)
    assert trial.measurement, trial.refusal
    assert trial.measurement.paired
    assert trial.measurement.paired.verdict == "not faster"
    assert trial.measurement.paired.pairs == 10
    assert len(NoiseStore().runs(backend.unit, operator.name, "")) == ENOUGH_RUNS
    assert trial.measurement.paired.ratio == pytest.approx(20 / 25, rel=0.03)


def test_an_operator_outside_a_repository_is_told_the_other_way(machine: Path) -> None:
    with pytest.raises(InputError, match=r"build\.sh.*--backend cann-direct"):
        make_backend("cann", "910B4").build(OPERATOR, {}, WORKLOAD)


def test_the_leased_device_is_used_and_the_lease_not_handed_on(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "0")
    assert launch(make_backend("cann-direct", "910B4"), OPERATOR, {}).samples_us
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "1")
    with pytest.raises(EnvironmentProblem, match="Device 1 is not fit.*Alarm"):
        make_backend("cann", "910B4")
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "5")
    with pytest.raises(EnvironmentProblem, match="no device 5: npu-smi info names 2"):
        make_backend("cann", "910B4")
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "first")
    with pytest.raises(InputError, match="does not begin with the id"):
        make_backend("cann", "910B4")


def test_the_toolkits_simulator_runs_without_a_device(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # no npu-smi
    backend = make_backend("camodel", "910B4")
    assert backend.fingerprint().simulated
    build = backend.build(OPERATOR, {}, WORKLOAD)
    output = [np.zeros((16, 4096), np.float32)]
    run = build.run(CASE, draw_inputs(CASE, 1), output, timeline=tmp_path / "timeline")
    assert run.samples_us == (pytest.approx(20.0, abs=0.01),)
    assert run.pipes.busy_cycles["MTE2"] == pytest.approx(2.5 * 1650, rel=0.01)
    assert (tmp_path / "timeline").read_text().count('"pipe"') == 4
    with pytest.raises(EnvironmentProblem, match="has no simulator of the 910B1"):
        make_backend("camodel", "910B1")
