"""A change of shared sources is held to all operators that take them."""

from pathlib import Path

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import EvaluationSettings
from ci.model.errors import TrialFailure
from ci.model.result import Sibling
from ci.model.trial import Candidate, Outcome, Trial
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from tests.ci.family import PIPELINE, TILING, write_family


def judge(root: Path, **settings: int) -> Evaluator:
    operator = load_operator(root)
    few = EvaluationSettings(varied_cases=0, thorough_seeds=0, **settings)
    backend = SimulatorBackend("910B4", launch_seconds=20)
    return Evaluator(operator, load_workload(operator), backend, settings=few)


def changed(evaluator: Evaluator, file: str, old: str, new: str) -> Trial:
    text = evaluator.operator.read(file)
    assert old in text
    trial = evaluator.evaluate(Candidate(files={file: text.replace(old, new)}), 1)
    assert trial.outcome is Outcome.OK, trial.refusal
    return trial


@pytest.mark.long
def test_a_change_of_the_shared_pipeline_is_built_for_both_operators(tmp_path: Path) -> None:
    evaluator = judge(write_family(tmp_path))
    before = evaluator.evaluate(Candidate(), 0)
    trial = changed(evaluator, PIPELINE, ", 1, TILE", ", 2, TILE")
    (sibling,) = evaluator.confirm(trial).siblings
    assert before.measurement and trial.measurement
    assert trial.measurement.score_us < before.measurement.score_us
    assert sibling.operator == "thrice" and sibling.speedup and sibling.speedup > 1.01


@pytest.mark.long
def test_a_change_that_is_wrong_for_a_sibling_is_refused(tmp_path: Path) -> None:
    evaluator = judge(write_family(tmp_path))
    trial = changed(evaluator, PIPELINE, "Muls(out, in, factor, TILE)", "Add(out, in, in, TILE)")
    with pytest.raises(TrialFailure, match="thrice, which shares the changed source, no longer"):
        evaluator.confirm(trial)


@pytest.mark.long
def test_a_change_that_slows_a_sibling_is_refused(tmp_path: Path) -> None:
    evaluator = judge(write_family(tmp_path, {"twice": 4096, "thrice": 1 << 20}))
    trial = changed(evaluator, TILING, "BLOCK_DIM = 8", "BLOCK_DIM = 2")
    with pytest.raises(TrialFailure, match="thrice, which shares .*, becomes slower"):
        evaluator.confirm(trial)


@pytest.mark.long
def test_what_slows_a_sibling_is_not_built_on(tmp_path: Path) -> None:
    evaluator = judge(write_family(tmp_path, {"twice": 4096, "thrice": 1 << 20}))
    before = evaluator.evaluate(Candidate(), 0)
    trial = changed(evaluator, TILING, "BLOCK_DIM = 8", "BLOCK_DIM = 2")
    unfit = evaluator.admit(trial, before, before)
    assert unfit.outcome is Outcome.UNFIT
    assert unfit.refusal and unfit.refusal.gate == "near_siblings"


@pytest.mark.long
def test_the_siblings_that_take_longest_are_asked_early(tmp_path: Path) -> None:
    lengths = {"twice": 4096, "eightfold": 4096, "thrice": 1 << 20}
    siblings = judge(write_family(tmp_path, lengths)).standard.siblings
    text = siblings.operator.read(TILING).replace("BLOCK_DIM = 8", "BLOCK_DIM = 4")
    with pytest.raises(TrialFailure, match="thrice, which shares"):
        siblings.judged({TILING: text}, most=1)


@pytest.mark.long
def test_a_sibling_without_a_workload_and_one_too_many_are_named(tmp_path: Path) -> None:
    root = write_family(tmp_path)
    evaluator = judge(root, siblings=0)
    trial = changed(evaluator, PIPELINE, ", 1, TILE", ", 2, TILE")
    assert evaluator.confirm(trial).siblings == (
        Sibling(operator="thrice", note="too many operators share the files"),
    )
    (root.parent / "thrice" / "workload.yaml").unlink()
    assert judge(root).confirm(trial).siblings == (
        Sibling(operator="thrice", note="it has no suitable workload"),
    )
