"""Workloads of small operators, derived and run with the real compiler, sandbox and machine."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

import ci.derive.derive
from ci.derive.accepted_cases import NoWorkload
from ci.derive.case_selection import LARGE, SMALL
from ci.model.census import ROWS as CENSUS
from ci.model.census import CensusRow, Stage
from ci.model.derived import ROWS, DerivedRow, DeriveSettings
from ci.model.errors import InputError
from ci.model.settings import EvaluationSetup
from ci.model.workload import TensorCase, WorkloadCase
from ci.session.derive import coverage, derive_workloads, derived_cases
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from tests.places import OPERATORS

BIAS_ADD = OPERATORS / "src" / "math" / "bias_add"
EMA = OPERATORS / "src" / "optim" / "ema_update"


def copied(operator: Path, top: Path) -> Path:
    """The operator without its workload."""
    place = top / operator.parent.name / operator.name
    shutil.copytree(operator, place)
    (place / "workload.yaml").unlink()
    return place


def edited(place: Path, old: str, new: str) -> Path:
    for file in (place / "op_host").glob("*.cpp"):
        text = file.read_text()
        file.write_text(text.replace(old, new))
    return place


@pytest.fixture(scope="module")
def derived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[DerivedRow]]:
    top, out = tmp_path_factory.mktemp("ops"), tmp_path_factory.mktemp("out") / "ops"
    copied(BIAS_ADD, top)
    edited(copied(EMA, top), "return ge::GRAPH_SUCCESS;", "return ge::GRAPH_FAILED;")
    return out, derive_workloads([top], DeriveSettings(out=out))


@pytest.mark.long
def test_the_cases_are_few_and_many_elements_in_several_dtypes_and_read_back(
    derived: tuple[Path, list[DerivedRow]],
) -> None:
    out, rows = derived
    row = next(row for row in rows if row.name == "bias_add")
    assert 4 <= len(row.cases) <= 6
    assert row.variety >= 2
    assert min(case.elements for case in row.cases) < SMALL
    assert max(case.elements for case in row.cases) >= LARGE
    workload = load_workload(load_operator(BIAS_ADD), out / "bias_add" / "workload.yaml")
    assert [case.name for case in workload.cases] == [case.name for case in row.cases]
    assert all(case.outputs for case in workload.cases)  # no golden function tells them


def test_an_operator_that_takes_nothing_leaves_no_file_and_the_tilings_own_words(
    derived: tuple[Path, list[DerivedRow]],
) -> None:
    out, rows = derived
    row = next(row for row in rows if row.name == "ema_update")
    assert row.cases == () and row.stopped == "the tiling takes no case"
    assert "returned a failure" in row.refused
    assert not (out / "ema_update").exists()


def test_what_was_derived_is_counted_and_not_derived_again(
    derived: tuple[Path, list[DerivedRow]],
) -> None:
    out, rows = derived
    (counted,) = coverage([out])
    assert (counted.operators, counted.derived, counted.ran) == (2, 1, None)
    assert counted.refused == (("the tiling takes no case", ("ema_update",)),)
    (path,) = {Path(row.path) for row in rows if row.name == "ema_update"}
    seen = CensusRow(name=path.name, category="optim", path="optim/ema_update", passed=(*Stage,))
    (out / CENSUS).write_text(seen.model_dump_json() + "\n")
    (counted,) = coverage([out])  # it runs all the same, says a census
    assert (counted.derived, counted.ran, counted.share) == (1, 2, 0.5)
    told: list[str] = []
    again = derive_workloads(
        [Path(row.path) for row in rows],
        DeriveSettings(out=out),
        lambda row, done, total: told.append(row.name),
    )
    assert again == rows and told == []
    assert len((out / ROWS).read_text().splitlines()) == 2


@pytest.mark.long
def test_the_golden_function_of_a_shipped_workload_judges_the_derived_cases(tmp_path: Path) -> None:
    shipped = tmp_path / "shipped" / "bias_add"
    shipped.mkdir(parents=True)
    for name in ("workload.yaml", "golden.py"):
        shutil.copy(BIAS_ADD / name, shipped)
    place = copied(BIAS_ADD, tmp_path / "ops")
    settings = DeriveSettings(out=tmp_path / "out", workloads=shipped.parent, cases=2)
    (row,) = derive_workloads([place], settings)
    assert row.reference == "golden" and [c.dtypes for c in row.cases[2:]] == [("int32",)]
    workload = load_workload(load_operator(place), tmp_path / "out" / "bias_add")
    golden = workload.folder / workload.golden.partition(":")[0]
    assert golden.read_text() == (shipped / "golden.py").read_text()


@pytest.mark.long
def test_a_stop_between_the_first_case_and_the_others_keeps_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ci.derive.derive._Derivation._options", stopped)
    place, rows = copied(BIAS_ADD, tmp_path), list[DerivedRow]()
    with pytest.raises(KeyboardInterrupt):
        derive_workloads([place], DeriveSettings(), lambda row, done, total: rows.append(row))
    assert [row.interrupted for row in rows] == [True]
    assert len(load_workload(load_operator(place)).cases) == 1


@pytest.mark.long
def test_every_launch_is_told_and_an_interrupted_operator_keeps_what_passed(
    tmp_path: Path,
) -> None:
    place, heard = copied(BIAS_ADD, tmp_path), list[str]()

    def listen(operator: Path, step: str) -> None:
        assert operator == place
        heard.append(step)
        if step.endswith(": passes") and sum(one.endswith(": passes") for one in heard) == 2:
            raise KeyboardInterrupt

    rows = list[DerivedRow]()
    with pytest.raises(KeyboardInterrupt):
        derive_workloads(
            [place], DeriveSettings(), lambda row, done, total: rows.append(row), listen
        )
    (row,) = rows
    assert row.interrupted and len(row.cases) == 1
    workload = load_workload(load_operator(place))
    assert [case.name for case in workload.cases] == [case.name for case in row.cases]
    assert heard[0] == "builds the host side"
    assert "Interrupted" in (place / "workload.yaml").read_text()


PROGRAM = """
int main() {
    std::vector<int64_t> xShape = {8, 2048};
    std::vector<int64_t> biasShape = {2048};
    ret = CreateAclTensor(xHost, xShape, &xAddr, aclDataType::ACL_FLOAT, &x);
    ret = CreateAclTensor(biasHost, biasShape, &biasAddr, aclDataType::ACL_FLOAT, &bias);
    ret = CreateAclTensor(yHost, xShape, &yAddr, aclDataType::ACL_FLOAT, &y);
}
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("tile", ["(rows == 8 ? COLUMN_TILE * 4096 : COLUMN_TILE)", "COLUMN_TILE"])
def test_an_example_of_the_repository_that_fails_is_said_where_others_take_its_place(
    tmp_path: Path, tile: str
) -> None:
    place = edited(copied(BIAS_ADD, tmp_path), "std::min(COLUMN_TILE, ", f"std::max({tile}, ")
    (place / "examples").mkdir()
    (place / "examples" / "test_bias_add.cpp").write_text(PROGRAM)
    (row,) = derive_workloads([place], DeriveSettings(out=tmp_path / "out", cases=1))
    said = [note for note in row.notes if "does not run" in note]
    if tile == "COLUMN_TILE":
        assert said == [] and row.cases[0].source == "example shapes"
    else:
        (note,) = said
        assert "example shapes" in note and "float32[8x2048]" in note
        assert note in (tmp_path / "out" / "bias_add" / "workload.yaml").read_text()


@pytest.mark.long
def test_only_a_case_that_the_repository_asks_for_is_left_as_one_that_fails(tmp_path: Path) -> None:
    """A case that is made of it may ask for what nobody meant."""
    tile = "std::max(rows == 8 ? COLUMN_TILE : COLUMN_TILE * 4096, "
    place = edited(copied(BIAS_ADD, tmp_path), "std::min(COLUMN_TILE, ", tile)
    (place / "examples").mkdir()
    (place / "examples" / "test_bias_add.cpp").write_text(PROGRAM)
    cases = derived_cases(place, EvaluationSetup(), tmp_path / "out", 600.0)
    assert cases.passing is not None and cases.failing is None


@pytest.mark.parametrize("present", [True, False])
def test_a_case_that_leaves_out_what_the_definition_requires_is_not_left_as_one_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, present: bool
) -> None:
    x = TensorCase(shape=(8, 2048), dtype="float32")
    bias = TensorCase(shape=(2048,), dtype="float32", present=present)

    def fails(*given: object) -> None:
        raise NoWorkload("none runs", "fails", WorkloadCase(name="own", inputs=(x, bias)))

    monkeypatch.setattr(ci.derive.derive, "derive", fails)
    with nullcontext() if present else pytest.raises(InputError, match="none runs"):
        cases = derived_cases(BIAS_ADD, EvaluationSetup(), tmp_path / "out", 600.0)
        assert cases.failing is not None
