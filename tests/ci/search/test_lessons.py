"""What a search teaches: wins forward, what did not help as inverted negatives."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.operator import Operator
from ci.model.result import Result
from ci.model.settings import OptimizeSettings
from ci.proposer.rules.proposer import rules_proposer
from ci.search.lessons import from_result
from ci.search.optimize import optimize
from ci.search.task import Task
from ci.testing.model_operator import HOST, KERNEL_FILE, WORKLOAD, ModelEvaluator, write
from experience.bank.bank import Bank
from experience.bank.patching import Misfit

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
