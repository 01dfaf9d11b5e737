"""What a search teaches: wins forward, what did not help as inverted negatives."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.operator import Operator
from ci.model.result import Result
from ci.model.settings import OptimizeSettings
from ci.model.trial import Candidate
from ci.proposer.base import Step
from ci.proposer.rules.proposer import rules_proposer
from ci.search.lessons import from_result, lessons
from ci.search.optimize import optimize
from ci.search.task import Task
from ci.testing.model_operator import HOST, KERNEL_FILE, WORKLOAD, ModelEvaluator, write
from experience.bank.bank import Bank
from experience.bank.distill import Provenance
from experience.bank.patching import Misfit
from experience.bank.retrieve import Query

ROOMY = HOST.replace("ubParts = 4", "ubParts = 6")
"""Two buffers a queue fit the unified buffer, three do not."""


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    return write(tmp_path, host=ROOMY)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Bank]:
    """A run that learnt, and the bank that it filled."""
    folder = tmp_path_factory.mktemp("finished")
    bank = Bank(folder / "bank.duckdb")
    return search(write(folder, host=ROOMY), folder / "out", bank), bank


def search(operator: Operator, out: Path, bank: Bank, **settings: object) -> Result:
    return optimize(
        Task(operator, WORKLOAD, ModelEvaluator(operator), rules_proposer(), bank),
        OptimizeSettings.model_validate({"budget": 20, "stage": "kernel", **settings}),
        out,
    )


def test_a_run_leaves_its_wins_and_its_failures_in_the_bank(
    finished: tuple[Result, Bank],
) -> None:
    result, bank = finished
    kept = {d: [t for t in bank.all() if t.direction == d] for d in ("forward", "negative")}
    assert kept["forward"] and kept["negative"]
    for t in kept["forward"]:
        assert t.evidence.speedup > 1.01
        assert t.origin == f"run {result.run}"
        assert t.slow is not None and t.fast is not None
        assert t.slow.candidate != t.fast.candidate
    doubled = next(t for t in kept["forward"] if t.motif_id == "double-buffering")
    assert "-constexpr int32_t BUFFER_NUM = 1;" in doubled.diff
    assert "+constexpr int32_t BUFFER_NUM = 2;" in doubled.diff
    failed = [t for t in kept["negative"] if t.evidence.failure]
    assert failed, "no rewrite overflowed the unified buffer"
    assert all(t.evidence.slow_us is None and t.title.startswith("No gain:") for t in failed)


def test_a_negatives_diff_leads_back_from_the_rewrite(finished: tuple[Result, Bank]) -> None:
    result, bank = finished
    deeper = [
        t for t in result.trials if "BUFFER_NUM = 3" in t.candidate.files.get(KERNEL_FILE, "")
    ]
    assert deeper
    negative = next(
        t for t in bank.all() if t.direction == "negative" and "BUFFER_NUM = 3" in t.diff
    )
    assert "-constexpr int32_t BUFFER_NUM = 3;" in negative.diff


@pytest.mark.long
def test_what_a_number_of_the_tiling_was_worth_comes_first_in_the_next_run(tmp_path: Path) -> None:
    """Found by its bottleneck, for steps that may change the tiling; idle limits teach nothing."""
    operator = write(tmp_path, host=HOST.replace("coreNum = 1;", "coreNum = 40;"))
    proposer, evaluator = rules_proposer(), ModelEvaluator(operator)
    template = proposer.synthesize(operator, WORKLOAD, "910B4")
    trials = [evaluator.evaluate(Candidate(stage="baseline"), 0)]
    while trials[-1].candidate.motif_ids != ("tiling.ub_share.8",):
        made = proposer.mutate(Step(operator, trials[0], trials), template)
        assert made is not None
        trials.append(evaluator.evaluate(made, len(trials)))
    assert len(trials) > 5, "it would have been tried at once anyhow"

    bank = Bank(tmp_path / "bank.duckdb")
    bank.add_all(lessons(operator, trials, proposer, Provenance(origin="a run")))
    (won,) = bank.all()
    assert won.title == "Tiles for 8/16 of the unified buffer" and KERNEL_FILE not in won.diff
    for stage, offered in (("tiling", True), ("kernel", False), ("joint", True)):
        query = Query(bottleneck=won.bottleneck, classes=won.classes, stage=stage)
        assert [r.tuple.id for r in bank.search(query)] == [won.id] * offered

    again = search(operator, tmp_path / "again", bank, stage="tiling", learn=False)
    assert again.trials[1].candidate.motif_ids == (won.motif_id,)
    assert (again.retrieved[0].id, again.retrieved[0].won) == (won.id, True)


@pytest.mark.long
def test_a_run_told_not_to_learn_leaves_the_bank_as_it_was(
    operator: Operator, tmp_path: Path
) -> None:
    bank = Bank(tmp_path / "bank.duckdb")
    search(operator, tmp_path / "out", bank, learn=False)
    assert bank.all() == []


def test_a_merged_result_teaches_the_same_as_the_run_did(
    operator: Operator, finished: tuple[Result, Bank]
) -> None:
    result, bank = finished
    for path, text in result.best.candidate.files.items():
        (operator.root / path).write_text(text, encoding="utf-8")  # what a merge does
    merged = from_result(result, operator, rules_proposer(), origin="https://forge/merge/1")
    assert {t.id for t in merged} == {t.id for t in bank.all()}
    assert {t.origin for t in merged} == {"https://forge/merge/1"}


def test_sources_that_are_neither_before_nor_after_the_run_teach_nothing(
    operator: Operator, finished: tuple[Result, Bank]
) -> None:
    result, _ = finished
    (operator.root / KERNEL_FILE).write_text("// rewritten since\n", encoding="utf-8")
    with pytest.raises(Misfit):
        from_result(result, operator, rules_proposer())
