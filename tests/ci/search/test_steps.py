"""Steps of both halves at once: one trial with a changed host tiling and a changed kernel."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ci.model.budget import Budget
from ci.model.diagnosis import Diagnosis
from ci.model.settings import OptimizeSettings
from ci.model.trial import Candidate, Outcome
from ci.proposer.base import Step
from ci.proposer.rules.proposer import rules_proposer
from ci.search.run import Run
from ci.search.steps import Steps
from ci.search.task import Task
from ci.system.trial_store import TRIALS_FILE, TrialStore
from ci.testing.model_operator import HOST_FILE, KERNEL_FILE, WORKLOAD, ModelEvaluator, write
from experience.bank.retrieve import Retrieved


def both(step: Step, diagnosis: Diagnosis, retrieved: Sequence[Retrieved]) -> Candidate | None:
    """A deeper queue that fits only in the smaller tile it comes with."""
    operator = step.operator
    files = {
        HOST_FILE: operator.read(HOST_FILE).replace("ubParts = 4", "ubParts = 8"),
        KERNEL_FILE: operator.read(KERNEL_FILE).replace("BUFFER_NUM = 1", "BUFFER_NUM = 2"),
    }
    candidate = Candidate(files=files, stage="joint", parent=step.best.candidate.hash)
    known: Sequence[str] = [t.candidate.hash for t in step.history]
    return None if candidate.hash in known else candidate


def begin(tmp_path: Path, stage: str = "both") -> tuple[Run, Steps]:
    judge = ModelEvaluator(write(tmp_path))
    run = Run(judge, Budget(5), TrialStore(tmp_path / TRIALS_FILE), lambda notice: None)
    run.measure_baseline()
    proposer = replace(rules_proposer(), rewrite_both=both)
    task = Task(judge.operator, WORKLOAD, judge, proposer)
    steps = Steps(run, task, OptimizeSettings.model_validate({"stage": stage}))
    steps.start()
    return run, steps


def test_a_joint_step_changes_both_halves_in_one_trial(tmp_path: Path) -> None:
    run, steps = begin(tmp_path)
    assert steps.joint
    trial = steps.take("joint", run.baseline)
    assert trial is not None
    assert set(trial.candidate.files) == {HOST_FILE, KERNEL_FILE}
    assert trial.candidate.stage == "joint"
    assert run.gained(trial)
    assert steps.take("joint", run.baseline) is None


def test_tiling_steps_go_on_from_a_joint_step_that_changed_more_than_the_blocks(
    tmp_path: Path,
) -> None:
    run, steps = begin(tmp_path)
    joint = both(
        Step(steps.operator, run.baseline, run.history),
        Diagnosis(bottleneck="", classes=(), evidence=()),
        (),
    )
    assert joint is not None
    head = {HOST_FILE: "#include <cmath>\n" + joint.files[HOST_FILE]}
    parent = run.evaluate(joint.model_copy(update={"files": joint.files | head}))
    trial = steps.take("tiling", parent)
    assert trial is not None and trial.outcome is not Outcome.REJECTED
    assert trial.candidate.parent == parent.candidate.hash
    assert trial.candidate.files[HOST_FILE].startswith("#include <cmath>\n")


@pytest.mark.parametrize("stage", ["tiling", "kernel"])
def test_a_run_of_one_stage_has_no_joint_steps(tmp_path: Path, stage: str) -> None:
    assert not begin(tmp_path, stage)[1].joint
