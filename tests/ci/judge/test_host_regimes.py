"""What becomes of each regime: tried, refused by the operator, wrong there, or too costly."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.host_regimes import asked, cover, outputs_of
from ci.judge.varied.base import elements
from ci.judge.varied.regimes import Regime, Regimes
from ci.judge.varied_sweep import LEAST_VARIED, WIDE, Taker, sweep
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from ci.testing.scale_shift import FOLDER, HOST
from tests.places import OPERATORS

READS = "    const float* x = context->GetInputTensor(0)->GetData<float>();\n"


def case(size: int) -> WorkloadCase:
    return WorkloadCase(name=f"{size}", inputs=(TensorCase(shape=(size,), dtype="float32"),))


def regime(key: int) -> Regime:
    return Regime(key, ("float32",), "all cores", "")


class Trier:
    """Launches up to 100 elements for nothing, larger ones at a second a thousand; refuses odd
    sizes, and is wrong where one divides by 3."""

    most = 100.0
    most_regimes = 9
    workload = Workload(operator="X", cases=(case(4000),), folder=Path())

    def takes(self, one: WorkloadCase, most: float | None = None) -> bool:
        return elements(one) % 2 == 0 and elements(one) % 3 != 0

    def late(self) -> bool:
        return False

    def seconds(self, one: WorkloadCase) -> float:
        return elements(one) / 1000

    def defect(self, one: WorkloadCase) -> str:
        return "wrong" if elements(one) % 3 == 0 else ""


def test_no_more_regimes_are_tried_than_asked_for() -> None:
    found = {regime(1): [case(8)], regime(2): [case(16)]}
    trier = Trier()
    trier.most_regimes = 1
    assert cover(found, trier, large_seconds=1).tried == {regime(1): case(8)}


def test_a_field_that_is_what_it_was_nowhere_comes_before_another_combination() -> None:
    small = Regime(1, ("float32",), "one core", "n n")
    found = {
        small: [case(8)],
        dataclasses.replace(small, dtypes=("float16",)): [case(10)],
        dataclasses.replace(small, cores="all cores"): [case(14)],
        dataclasses.replace(small, pattern="n 0", dtypes=("float16",)): [case(16)],
        dataclasses.replace(small, pattern="n 0", tiling_key=2): [case(20)],
    }
    trier = Trier()
    tried = cover(found, trier, large_seconds=1).tried
    assert [*map(elements, tried.values())] == [8, 16, 20, 10, 14]


def test_regimes_have_an_end_of_their_own() -> None:
    operator = load_operator(OPERATORS / "src/math/row_sum")
    judge = Evaluator(operator, load_workload(operator), SimulatorBackend("910B4"))
    tier = dataclasses.replace(WIDE, most_cases=4, most_regimes=2)
    assert sweep(judge.standard, {}, tier).regimes
    over = sweep(judge.standard, {}, dataclasses.replace(tier, regimes_late=lambda: True))
    assert not over.regimes and over.cases


def test_a_regime_that_only_exists_at_a_large_size_is_run_there_once() -> None:
    found: Regimes = {regime(1): [case(10)], regime(2): [case(2000), case(2002)]}
    covered = cover(found, Trier(), large_seconds=3)
    assert [*map(elements, covered.tried.values())] == [10, 2000]


def test_three_answers_are_kept_apart() -> None:
    found: Regimes = {
        regime(1): [case(5), case(41)],  # refused
        regime(2): [case(6)],  # wrong
        regime(3): [case(2000)],  # too costly
        regime(4): [case(5), case(44)],  # refused, then passed
    }
    covered = cover(found, Trier(), large_seconds=1)
    assert covered.tried == {regime(4): case(44)}
    assert covered.declined == {regime(1): "", regime(2): "wrong"}
    assert covered.costly == {regime(3): 2.0}
    assert covered.failed == [(case(5), ""), (case(41), ""), (case(5), ""), (case(6), "wrong")]


def test_the_launches_of_the_workload_count_for_its_own_regimes() -> None:
    covered = cover({regime(1): [case(4000)]}, Trier(), large_seconds=0)
    assert covered.tried == {regime(1): case(4000)} and not covered.costly


def test_what_is_larger_than_the_workload_is_tried_up_to_a_size_while_time_is_left() -> None:
    found: Regimes = {regime(1): [case(8000)], regime(2): [case(8_000_000)]}
    covered = cover(found, Trier(), large_seconds=1e9)
    assert covered.tried == {regime(1): case(8000)}
    assert covered.costly == {regime(2): 8000.0}


def test_a_host_that_reads_values_is_asked_with_them(tmp_path: Path) -> None:
    """Its block dim hangs on the first value, which it could not read if that were not drawn."""
    shutil.copytree(FOLDER, folder := tmp_path / "scale_shift")
    text = (folder / HOST).read_text()
    for old, new in (
        ("ParamType(REQUIRED)", "ParamType(REQUIRED).ValueDepend(REQUIRED)"),
        ("SetBlockDim(BLOCK_DIM)", "SetBlockDim(x[0] < 1e30f ? BLOCK_DIM : 1)"),
        ("    ScaleShiftTilingData tiling;", READS + "    ScaleShiftTilingData tiling;"),
    ):
        assert old in text
        text = text.replace(old, new, 1)
    (folder / HOST).write_text(text)
    operator = load_operator(folder)
    workload = load_workload(operator, None)
    judge = Evaluator(operator, workload, SimulatorBackend("910B4"))
    (answer,) = asked(judge.standard, [case(1024)])
    assert answer is not None and answer.block_dim == 4


def test_a_case_that_cannot_be_asked_about_keeps_no_other_from_being_asked(tmp_path: Path) -> None:
    """An output that has its input's memory is no larger than it."""
    shutil.copytree(FOLDER, folder := tmp_path / "scale_shift")
    host = folder / HOST
    host.write_text(host.read_text().replace('Output("y")', 'Output("x")'))
    operator = load_operator(folder)
    judge = Evaluator(operator, load_workload(operator, None), SimulatorBackend("910B4"))
    wrong, right = (
        case(1024).model_copy(update={"outputs": (TensorCase(shape=(n,), dtype="float32"),)})
        for n in (2048, 1024)
    )
    first, second = asked(judge.standard, [wrong, right])
    assert first is None
    assert second is not None and second.block_dim == 4


@pytest.mark.long
def test_a_large_workload_is_varied_from_small_cases_of_its_regimes() -> None:
    """Without them all variations lie above what a launch may cost."""
    operator = load_operator(OPERATORS / "src" / "activation" / "leaky_relu_shift")
    own = load_workload(operator)
    tensor = own.cases[0].inputs[0]
    assert isinstance(tensor, TensorCase)
    longer = tensor.model_copy(update={"shape": (4096, 1024)})
    large = own.cases[0].model_copy(update={"name": "large", "inputs": (longer,), "outputs": ()})
    judge = Evaluator(
        operator, own.model_copy(update={"cases": (large,)}), SimulatorBackend("910B4")
    )
    tier = dataclasses.replace(WIDE, most_elements=1 << 20)
    assert Taker(judge.standard, tier).is_costly(large)
    found = sweep(judge.standard, {}, tier)
    assert found.regimes > 1 and not found.untried
    assert len(found.cases) >= LEAST_VARIED


def test_infershape_says_how_many_elements_the_outputs_of_a_case_have() -> None:
    operator = load_operator(OPERATORS / "src/math/row_sum")
    workload = load_workload(operator).model_copy(update={"golden": ""})
    judge = Evaluator(operator, workload, SimulatorBackend("910B4"))
    first = workload.cases[0].inputs[0]
    assert isinstance(first, TensorCase)
    asked_for = [
        WorkloadCase(name=f"{rows}", inputs=(first.model_copy(update={"shape": (rows, 64)}),))
        for rows in (3, 5)
    ]
    assert outputs_of(judge.standard, asked_for) == [3, 5]
