"""Strategies side by side on operators in source: real runs, kept and made once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ci.model.errors import InputError
from ci.proposer.rules.proposer import rules_proposer
from ci.source.discovery import load_operator
from ci.system.trial_store import TRIALS_FILE, TrialStore
from experience.bank.bank import Bank
from lab.bench.cell_process import here
from lab.bench.strategies import bench, subjects
from lab.model.strategies import StrategyBench, StrategyBenchSettings
from tests.places import OPERATORS

PLACE = OPERATORS / "src" / "index" / "take_positive"
SETTINGS = StrategyBenchSettings(strategies="best_of_n,random", budget=3, seeds=1, pool="local:1")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One operator that works, one whose kernel does not, and one without a workload."""
    top = tmp_path_factory.mktemp("repository")
    for name in ("take_positive", "broken", "unasked"):
        shutil.copytree(PLACE, top / "src" / "math" / name)
    kernel = next((top / "src" / "math" / "broken" / "op_kernel").glob("*.cpp"))
    kernel.write_text("#error none\n" + kernel.read_text())
    return top


@pytest.fixture(scope="module")
def workloads(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workloads")
    for name in ("take_positive", "broken"):
        (folder / name).mkdir()
        for file in ("workload.yaml", "golden.py"):
            shutil.copy(PLACE / file, folder / name)
    return folder


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("strategies")


@pytest.fixture(scope="module")
def run(
    repository: Path, workloads: Path, out: Path
) -> Callable[..., tuple[StrategyBench, list[str]]]:
    """Runs the bench in one folder with other settings; what it found, and what it said."""
    bank = Bank(out / "bank.duckdb")
    usual = SETTINGS.model_copy(update={"repository": repository, "workloads": workloads})

    def once(**other: object) -> tuple[StrategyBench, list[str]]:
        said: list[str] = []
        settings = usual.model_copy(update=other)
        return bench([], bank, settings, out, rules_proposer, said.append, here), said

    return once


@pytest.fixture(scope="module")
def first(
    run: Callable[..., tuple[StrategyBench, list[str]]],
) -> tuple[StrategyBench, list[str]]:
    return run()


@pytest.mark.long
def test_what_one_arm_measured_spares_the_next_one_and_changes_no_figure(
    first: tuple[StrategyBench, list[str]], repository: Path, workloads: Path, tmp_path: Path
) -> None:
    settings = SETTINGS.model_copy(
        update={"repository": repository, "workloads": workloads, "wall_minutes": 0.0}
    )
    bank = Bank(tmp_path / "bank.duckdb")
    found = bench([], bank, settings, tmp_path, rules_proposer, answer=here)
    assert len(list((tmp_path / "take_positive").glob("answers-*.sqlite"))) == 1
    taken = {"wall_seconds", "cpu_seconds"}
    assert [c.model_dump(exclude=taken) for c in found.cells] == [
        c.model_dump(exclude=taken) for c in first[0].cells
    ]


def test_every_figure_leads_to_its_trial(first: tuple[StrategyBench, list[str]], out: Path) -> None:
    found, _ = first
    assert {(c.operator, c.arm, c.seed) for c in found.cells} == {
        ("take_positive", "best_of_n", 0), ("take_positive", "random", 0),
    }  # fmt: skip
    for cell in found.cells:
        with TrialStore(out / cell.folder / TRIALS_FILE) as store:
            trials = {t.number: t for t in store.trials()}
        best, baseline = trials[cell.best_trial].measurement, trials[0].measurement
        assert best is not None and baseline is not None
        assert baseline.score_us / best.score_us == pytest.approx(cell.speedup)
        assert cell.evaluations <= cell.granted == 3 and cell.cpu_seconds > 0
    assert [row.arm for row in found.rows] == ["best_of_n", "random"]


def test_an_operator_that_does_not_pass_is_named_and_stops_nothing(
    first: tuple[StrategyBench, list[str]],
) -> None:
    found, said = first
    (left,) = found.left_out
    assert left.operator == "broken" and "does not pass its workload" in left.reason
    assert found.compared == ("take_positive",) and not found.unfinished
    assert any(line.startswith("[1/4] take_positive/seed-0/") for line in said)


def test_what_is_done_is_not_run_again(
    first: tuple[StrategyBench, list[str]],
    run: Callable[..., tuple[StrategyBench, list[str]]],
) -> None:
    again, said = run(run=False)
    assert again.cells == first[0].cells and said == []


def test_a_killed_run_goes_on_and_comes_to_the_same(
    first: tuple[StrategyBench, list[str]],
    run: Callable[..., tuple[StrategyBench, list[str]]],
    out: Path,
    repository: Path,
) -> None:
    cell = next(c for c in first[0].cells if c.arm == "random")
    assert not (out / cell.folder / "bank.duckdb").exists()
    (out / cell.folder / "result.json").unlink()
    kept = out / cell.folder / "cell.json"
    kept.write_text(kept.read_text().partition('"cell":')[0] + '"cell": null}')
    with TrialStore(out / cell.folder / TRIALS_FILE) as store:
        before = [t.seconds for t in store.trials()]
    (repository / "src" / "math" / "broken").rename(repository / "held")
    try:
        found, said = run()
    finally:
        (repository / "held").rename(repository / "src" / "math" / "broken")
    with TrialStore(out / cell.folder / TRIALS_FILE) as store:
        assert [t.seconds for t in store.trials()] == before  # answered, not evaluated
    ours = next(c for c in found.cells if c.arm == "random")
    cost = {"wall_seconds", "cpu_seconds"}
    assert ours.model_dump(exclude=cost) == cell.model_dump(exclude=cost)
    assert len(said) == 1


def test_a_cell_with_other_settings_is_refused(
    first: tuple[StrategyBench, list[str]],
    run: Callable[..., tuple[StrategyBench, list[str]]],
) -> None:
    with pytest.raises(InputError, match=r"cell.json was made with top_k 5, now it is 3; give"):
        run(top_k=3)


def test_only_what_has_a_workload_is_meant(repository: Path, workloads: Path) -> None:
    settings = SETTINGS.model_copy(update={"repository": repository, "workloads": workloads})
    found, reasons = subjects([], settings)
    assert [s.operator.name for s in found] == ["broken", "take_positive"] and not reasons
    (workloads / "take_positive" / "workload.yaml").rename(workloads / "held.yaml")
    try:
        found, reasons = subjects([load_operator(PLACE)], settings)
    finally:
        (workloads / "held.yaml").rename(workloads / "take_positive" / "workload.yaml")
    assert [s.operator.name for s in found] == ["broken"]
    assert "has no workload for it" in reasons["take_positive"]


def test_of_two_operators_with_one_name_the_first_is_run(tmp_path: Path) -> None:
    for category in ("a", "b"):
        shutil.copytree(PLACE, tmp_path / "src" / category / "take_positive")
    found, reasons = subjects([], SETTINGS.model_copy(update={"repository": tmp_path}))
    assert [s.operator.category for s in found] == ["a"]
    assert reasons == {"b/take_positive": "a/take_positive has the same name and is run."}


def test_nothing_to_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no folder"):
        subjects([], SETTINGS.model_copy(update={"repository": tmp_path / "none"}))
    with pytest.raises(InputError, match="no operator with a workload"):
        subjects([], SETTINGS.model_copy(update={"repository": tmp_path}))
