"""The ablation on operators in source; its statistics on figures that can be checked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.backend import make_backend
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.proposer.rules.proposer import rules_proposer
from ci.source.discovery import load_operator
from experience.bank.bank import Bank
from experience.bank.exchange import SHIPPED, import_lines
from lab.bench.ablation import ablation, difference, weakened
from lab.bench.search_cells import near_duplicates
from lab.model.ablation import Ablation, AblationSettings, Arm, Cell
from lab.report.ablation import markdown
from tests.places import OPERATORS

OWN = OPERATORS / "src"


def cell(operator: str, arm: Arm, speedup: float) -> Cell:
    return Cell(
        operator=operator, arm=arm, seed=0, speedup=speedup, baseline_us=1.0, evaluations=3,
        best_after=(1.0, speedup),
    )  # fmt: skip


@pytest.fixture(scope="module")
def operator() -> Operator:
    return load_operator(OWN / "math" / "axpby")


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Bank:
    made = Bank(tmp_path_factory.mktemp("bank") / "bank.duckdb")
    import_lines(made, SHIPPED)
    return made


def test_the_difference_is_the_geometric_mean_of_paired_ratios() -> None:
    cells = [
        cell(o, arm, s)
        for o, pair in {"a": (2.0, 1.0), "b": (1.0, 1.0), "c": (4.0, 2.0)}.items()
        for arm, s in zip(("kernel", "kernel_no_bank"), pair, strict=True)
    ]
    found = difference(cells, "kernel", "kernel_no_bank")
    assert found is not None
    assert found.ratio == pytest.approx(4 ** (1 / 3))
    assert 1.0 <= found.low < found.ratio < found.high <= 2.0
    assert (found.operators, found.better, found.worse) == (3, 2, 0)
    assert difference(cells[:2], "kernel", "kernel_no_bank") is None


def test_an_operator_is_its_own_near_duplicate_and_others_only_when_alike(
    operator: Operator,
) -> None:
    twin = operator.model_copy(update={"name": "twin"})
    other = load_operator(OWN / "index" / "gather_rows")
    found = near_duplicates([operator, twin, other])
    assert found[operator.name] == {operator.name, "twin"}
    assert found[other.name] == {other.name}


def test_weakening_takes_back_as_many_lessons_as_asked_or_none(
    operator: Operator, bank: Bank
) -> None:
    own = [t for t in bank.all() if t.operator == operator.name]
    texts = weakened(operator, own, 2, seed=0)
    assert texts is not None and texts != operator.texts()
    assert texts == weakened(operator, own, 2, seed=0)
    assert weakened(operator, own, 99, seed=0) is None


def test_an_arm_that_there_is_not_is_named() -> None:
    with pytest.raises(InputError, match="There is no arm sideways"):
        AblationSettings(arms="kernel,sideways").chosen()


@pytest.mark.long
def test_cells_are_run_once_and_read_again(operator: Operator, bank: Bank, tmp_path: Path) -> None:
    settings = AblationSettings(budget=3, arms="kernel,kernel_no_bank", weaken=1, pool="local:2")
    ran: list[Cell] = []

    def once() -> Ablation:
        backend = make_backend("sim", "910B4")
        return ablation([operator], bank, settings, tmp_path, rules_proposer, backend, ran.append)

    first = once()
    assert {c.arm for c in ran} == {"kernel", "kernel_no_bank"}
    results = {p: p.stat().st_mtime_ns for p in tmp_path.glob("*/*/*/*/result.json")}
    assert len(results) == 2
    assert once().cells == first.cells
    assert {p: p.stat().st_mtime_ns for p in results} == results
    held = Bank(next(tmp_path.glob("*/*/*/kernel-3/bank.duckdb")))
    assert operator.name not in {t.operator for t in held.all()}
    assert "| Stage II only, without bank | 1 |" in markdown(first)
