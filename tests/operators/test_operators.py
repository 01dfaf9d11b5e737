"""Every operator of our own is read as written and evaluates ok on the simulator."""

from functools import cache
from pathlib import Path

import pytest

from ci.backend import make_backend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import EvaluationSettings
from ci.model.ensemble import ensemble
from ci.model.operator import Operator
from ci.model.trial import Candidate, Trial
from ci.source.discovery import find_operators, load_operator
from ci.source.workload_file import load_workload
from tests.places import SAMPLE

OWN = Path(__file__).parent

FOLDERS = sorted(
    p.parent for top in (OWN, SAMPLE) for p in (top / "src").glob("*/*/op_host") if p.is_dir()
)


RANGES = ("axpby", "softmax_rows", "matmul_blocks", "affine_clamp")
"""Operators that are timed with every constant moved; the others under the conditions alone."""


def name_of(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}"


def operator(name: str) -> Operator:
    return load_operator(next(f for f in FOLDERS if f.name == name))


@cache
def evaluator_of(folder: Path) -> Evaluator:
    """For the operator as it stands, on the first seed; made once for all tests here."""
    read = load_operator(folder)
    workload = load_workload(read).model_copy(update={"seeds": (1,)})
    assert workload.golden
    ranges = folder.name in RANGES
    settings = EvaluationSettings(ensemble=ensemble(ranges=ranges))
    return Evaluator(read, workload, make_backend("sim", "910B4"), settings=settings)


@cache
def trial_of(folder: Path) -> Trial:
    """The operator as it stands, evaluated once for all tests here."""
    return evaluator_of(folder).evaluate(Candidate(), 0)


@pytest.mark.few(3)
@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_operator_evaluates_ok_against_its_golden(folder: Path) -> None:
    trial = trial_of(folder)
    assert trial.outcome == "ok", trial.refusal
    assert trial.measurement is not None
    named = [c.name for c in load_workload(load_operator(folder)).cases]
    assert [c.case for c in trial.measurement.cases] == named
    assert all(c.pipes.total_cycles > 0 for c in trial.measurement.cases)


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_a_warm_launch_is_never_slower_than_a_cold_one(folder: Path) -> None:
    """Nor is one whose code alone, or whose inputs alone, are there."""
    measurement = trial_of(folder).measurement
    assert measurement is not None
    for case in measurement.over(evaluator_of(folder).members_us(Candidate())).cases:
        times = case.members_us
        assert times["cold"] == pytest.approx(case.median_us, rel=1e-9)
        half = times["cold code, inputs in L2"], times["warm code, inputs in memory"]
        assert times["warm"] <= min(half) <= max(half) <= times["cold"]
        assert times["warm"] < times["cold"]
        if folder.name in RANGES:
            assert len(times) > 90
            moved = [us for name, us in times.items() if " = " in name or " x " in name]
            assert min(moved) < case.median_us < max(moved)


@pytest.mark.parametrize("top", [OWN, SAMPLE], ids=["tests", "sample"])
def test_repository_lists_each_of_its_operators(top: Path) -> None:
    found = {name_of(o.root) for o in find_operators(top)}
    assert found == {name_of(f) for f in FOLDERS if f.is_relative_to(top)}


def test_operators_spread_over_the_kinds_that_real_repositories_hold() -> None:
    categories = {f.parent.name for f in FOLDERS}
    assert len(FOLDERS) >= 12
    assert categories >= {
        *("activation", "conversion", "foreach", "index", "math", "norm", "quant"),
    }


def test_automatic_sync_is_read_from_the_build_options() -> None:
    assert not operator("bias_add").auto_sync
    assert operator("row_sum").auto_sync


def test_both_ways_of_registering_a_tiling_function_are_found() -> None:
    assert "TilingFunc" in operator("row_sum").tiling_functions  # OpDef.SetTiling
    assert "Tiling4RowMaxAbs" in operator("row_max_abs").tiling_functions  # IMPL_OP_OPTILING


def test_cases_reach_more_than_one_tiling_key() -> None:
    trial = trial_of(operator("softmax_rows").root)
    assert trial.measurement is not None
    assert {c.tiling_key for c in trial.measurement.cases} == {1, 2}
