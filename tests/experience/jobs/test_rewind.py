from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ci.backend import make_backend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import EvaluationSettings
from ci.model.experience import RewindSettings
from ci.model.operator import Operator
from ci.proposer.rules.proposer import rules_proposer
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from ci.testing.model_operator import ModelEvaluator, write
from experience.bank.bank import Bank
from experience.jobs.rewind import RewindResult, rewind
from tests.experience.jobs.test_refresh import ROOMY, STRONG
from tests.places import OPERATORS

ROW_SUM = OPERATORS / "src" / "math" / "row_sum"


@pytest.fixture(scope="module")
def operator() -> Operator:
    return load_operator(ROW_SUM)


@pytest.fixture(scope="module")
def walked(
    operator: Operator, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Bank, RewindResult]:
    """One short walk down from a real operator on the simulator."""
    workload = load_workload(operator, None)
    workload = workload.model_copy(update={"cases": workload.cases[:1], "seeds": (1,)})
    bank = Bank(tmp_path_factory.mktemp("bank") / "bank.duckdb")
    evaluator = Evaluator(
        operator, workload, make_backend("sim", "910B4"), settings=EvaluationSettings()
    )
    settings = RewindSettings(budget=4, steps=1, noise_floor=0.01)
    return bank, rewind(operator, evaluator, rules_proposer(), bank, settings)


def test_every_removal_that_hurts_is_banked_and_no_other(
    walked: tuple[Bank, RewindResult],
) -> None:
    bank, result = walked
    hurting = {s.tuple_id for s in result.steps if s.slowdown is not None and s.slowdown > 1.01}
    assert hurting, "nothing that was removed from row_sum made it slower"
    assert {t.id for t in bank.all()} == hurting
    assert all(not s.tuple_id for s in result.steps if s.slowdown is None or s.slowdown <= 1.01)


def test_a_tuple_keeps_both_times_and_says_that_they_are_simulated(
    walked: tuple[Bank, RewindResult],
) -> None:
    for kept in walked[0].all():
        assert kept.evidence.slow_us > kept.evidence.fast_us * 1.01
        assert kept.fingerprint.simulated
        assert (kept.direction, kept.operator, kept.soc) == ("rewind", "row_sum", "910B4")
        assert kept.bottleneck and kept.classes and kept.motif_id


def test_the_diff_leads_from_the_slow_kernel_back_to_the_strong_one(
    walked: tuple[Bank, RewindResult], operator: Operator, tmp_path: Path
) -> None:
    bank, result = walked
    for step in (s for s in result.steps if s.tuple_id):
        folder = tmp_path / step.tuple_id
        for path, text in operator.texts(step.trial.candidate.files).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        subprocess.run(
            ["git", "apply", "-"],
            cwd=folder,
            input=bank.get(step.tuple_id).diff,
            text=True,
            check=True,
        )
        for path, text in operator.texts().items():
            assert (folder / path).read_text(encoding="utf-8") == text


def test_the_budget_holds(walked: tuple[Bank, RewindResult]) -> None:
    assert len(walked[1].steps) + 1 <= 4


@pytest.mark.parametrize("steps", [1, 2])
def test_no_more_is_removed_on_top_of_each_other_than_asked_for(tmp_path: Path, steps: int) -> None:
    strong = write(tmp_path, host=ROOMY, kernel=STRONG)
    settings = RewindSettings(budget=30, steps=steps)
    bank = Bank(tmp_path / "bank.duckdb")
    walked = rewind(strong, ModelEvaluator(strong), rules_proposer(), bank, settings)
    assert max(step.step for step in walked.steps) == steps - 1
