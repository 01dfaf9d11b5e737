"""A census of a small repository, with the real compiler, sandbox and machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ci.census.run import rows_of, take_census
from ci.census.summary import summarize
from ci.model.census import ROWS, CensusRow, CensusSettings, Stage
from ci.model.errors import InputError
from ci.source.workload_file import find_workload
from tests.places import OPERATORS

OPERATOR = OPERATORS / "src" / "math" / "bias_add"
GOLDEN_THAT_ENDS_ITS_PROCESS = "import os\n\ndef bias_add(*_, **__):\n    os._exit(3)\n"
GOLDEN_THAT_HANGS = "import time\n\ndef bias_add(*_, **__):\n    time.sleep(600)\n"


def add(repository: Path, name: str) -> Path:
    """A copy of a working operator under another name, its files left as they are called."""
    place = repository / "src" / "math" / name
    shutil.copytree(OPERATOR, place)
    return place


def golden(place: Path, text: str) -> None:
    (place / "golden.py").write_text(text)
    workload = place / "workload.yaml"
    lines = workload.read_text().splitlines()
    kept = [line for line in lines if not line.startswith("golden:")]
    workload.write_text("\n".join([*kept, "golden: golden.py:bias_add"]) + "\n")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("ops")
    add(top, "whole")
    (add(top, "probed") / "workload.yaml").unlink()
    headless = add(top, "headless")
    kernel = next((headless / "op_kernel").glob("*.cpp"))
    kernel.write_text('#include "lib/oracle.h"\n' + kernel.read_text())
    undeclared = add(top, "undeclared")
    host = next((undeclared / "op_host").glob("*.cpp"))
    host.write_text(host.read_text().replace("public OpDef", "public Nothing"))
    foreign = add(top, "foreign")
    host = next((foreign / "op_host").glob("*.cpp"))
    host.write_text(host.read_text().replace('"ascend910b"', '"ascend310p"'))
    golden(add(top, "deadly"), GOLDEN_THAT_ENDS_ITS_PROCESS)
    return top


@pytest.fixture(scope="module")
def census(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[CensusRow]]:
    out = tmp_path_factory.mktemp("census")
    return out, take_census(repository, CensusSettings(pool="local:1"), out, lambda *_: None)


def find(rows: list[CensusRow], name: str) -> CensusRow:
    return next(row for row in rows if row.name == name)


def test_an_operator_with_a_workload_is_verified(census: tuple[Path, list[CensusRow]]) -> None:
    row = find(census[1], "whole")
    assert row.passed == tuple(Stage)
    assert (row.judged, row.case, row.failures) == ("verified", "workload", ())


def test_an_operator_without_one_is_probed_and_not_called_verified(
    census: tuple[Path, list[CensusRow]],
) -> None:
    row = find(census[1], "probed")
    assert row.passed == tuple(s for s in Stage if s is not Stage.VERIFIED)
    assert row.judged == "probed"
    assert row.case.startswith("generic shapes")


@pytest.mark.long
def test_an_output_that_is_left_alone_is_filled_before_the_launch(
    tmp_path: Path,
) -> None:
    place = add(tmp_path / "ops", "sparing")
    (place / "workload.yaml").unlink()
    host = next((place / "op_host").glob("*.cpp"))
    text = host.read_text()
    one = text.index("this->Output(")
    whole = text[one : text.index(";", one) + 1]
    host.write_text(text.replace(whole, whole + whole.replace('Output("', 'Output("second_')))
    kernel = next((place / "op_kernel").glob("*.cpp"))
    kernel.write_text(
        kernel.read_text().replace("GM_ADDR workspace", "GM_ADDR s, GM_ADDR workspace")
    )
    rows = take_census(
        tmp_path / "ops", CensusSettings(pool="local:1"), tmp_path / "out", lambda *_: None
    )
    assert (rows[0].judged, rows[0].failures) == ("probed", ())


def test_an_output_that_is_only_added_to_is_filled_before_the_launch(tmp_path: Path) -> None:
    place = tmp_path / "ops" / "src" / "math" / "row_sum"
    shutil.copytree(OPERATORS / "src" / "math" / "row_sum", place)
    (place / "workload.yaml").unlink()
    kernel = place / "op_kernel" / "row_sum.cpp"
    text = kernel.read_text()
    copy = "DataCopyPad(yGm[row], yLocal, params);"
    assert copy in text
    kernel.write_text(text.replace(copy, f"SetAtomicAdd<float>(); {copy} SetAtomicNone();"))
    rows = take_census(
        tmp_path / "ops", CensusSettings(pool="local:1"), tmp_path / "out", lambda *_: None
    )
    assert (rows[0].judged, rows[0].failures) == ("probed", ())


SETTING = "this->AICore().SetTiling(optiling::TilingFunc);"


def row_sum_in_two(top: Path) -> tuple[Path, str]:
    """row_sum whose definition sets no tiling: its folder, and the text of its tiling, which no
    source of it has."""
    place = top / "math" / "row_sum"
    shutil.copytree(OPERATORS / "src" / "math" / "row_sum", place)
    (top / ".git").mkdir()
    host = place / "op_host" / "row_sum.cpp"
    tiling, rest = host.read_text().split("namespace ge {")
    assert SETTING in rest
    definition = "namespace ge {" + rest.replace(SETTING, "")
    host.write_text('#include "register/op_def_registry.h"\n' + definition)
    return place, tiling


INFERENCE = """
static ge::graphStatus InferType(gert::InferDataTypeContext*) { return ge::GRAPH_SUCCESS; }
IMPL_OP(RowSum).InferDataType(InferType);
"""


def registering(op_type: str) -> str:
    return f"namespace optiling {{\nIMPL_OP_OPTILING({op_type}).Tiling(TilingFunc);\n}}\n"


def test_an_operator_whose_tiling_another_one_s_source_registers_is_verified(
    tmp_path: Path,
) -> None:
    top = tmp_path / "ops"
    place, tiling = row_sum_in_two(top)
    host = place / "op_host" / "row_sum.cpp"
    host.write_text(host.read_text() + INFERENCE)
    (place / "op_graph").mkdir()
    (place / "op_graph" / "row_sum_infer.cpp").write_text("#error of the graph\n" + INFERENCE)
    other = top / "math" / "other_sum"
    (other / "op_host").mkdir(parents=True)
    (other / "op_kernel").mkdir()
    constant = "constexpr uint32_t CHUNK = 4096;\n"
    assert constant in tiling
    (other / "op_kernel" / "limits.h").write_text("#include <cstdint>\n" + constant)
    (other / "op_host" / "other_sum_tiling.cpp").write_text(
        '#include "../op_kernel/limits.h"\n' + tiling.replace(constant, "") + registering("RowSum")
    )
    rows = take_census(top, CensusSettings(pool="local:1"), tmp_path / "out", lambda *_: None)
    assert [(row.name, row.judged, row.failures) for row in rows] == [("row_sum", "verified", ())]


CALLED_ELSEWHERE = """
namespace optiling {
ge::graphStatus TilingFunc(gert::TilingContext* context);
static ge::graphStatus TilingOfRows(gert::TilingContext* context) { return TilingFunc(context); }
IMPL_OP_OPTILING(RowSum).Tiling(TilingOfRows);
}
"""


def test_a_tiling_function_that_is_only_declared_is_taken_from_the_source_that_defines_it(
    tmp_path: Path,
) -> None:
    top = tmp_path / "ops"
    place, tiling = row_sum_in_two(top)
    host = place / "op_host" / "row_sum.cpp"
    host.write_text(host.read_text() + CALLED_ELSEWHERE)
    other = top / "math" / "other_sum" / "op_host"
    other.mkdir(parents=True)
    assert "static ge::graphStatus TilingFunc" in tiling
    shared = tiling.replace("static ge::graphStatus TilingFunc", "ge::graphStatus TilingFunc")
    (other / "other_sum_tiling.cpp").write_text(shared + registering("OtherSum"))
    rows = take_census(top, CensusSettings(pool="local:1"), tmp_path / "out", lambda *_: None)
    assert [(row.name, row.judged, row.failures) for row in rows] == [("row_sum", "verified", ())]


def test_a_tiling_that_is_registered_for_another_type_is_named(tmp_path: Path) -> None:
    top = tmp_path / "ops"
    place, tiling = row_sum_in_two(top)
    (place / "workload.yaml").unlink()
    (place / "op_host" / "tiling.cpp").write_text(tiling + registering("RowSumCustom"))
    (row,) = take_census(top, CensusSettings(pool="local:1"), tmp_path / "out", lambda *_: None)
    assert row.failures[0].message.startswith(
        "No tiling function is registered for RowSum. The sources of its host side register one"
        " for RowSumCustom"
    )


def test_a_missing_header_is_named(census: tuple[Path, list[CensusRow]]) -> None:
    row = find(census[1], "headless")
    assert Stage.TILING_RUNS in row.passed and Stage.KERNEL_BUILDS not in row.passed
    first = row.failures[0]
    assert "missing header lib/oracle.h" in {f.reason for f in row.failures}
    assert "lib/oracle.h" in first.message


def test_a_definition_that_cannot_be_read_is_a_row(census: tuple[Path, list[CensusRow]]) -> None:
    row = find(census[1], "undeclared")
    assert row.passed == (Stage.FOUND,)
    assert "No op definition" in row.failures[0].message


def test_operators_for_other_chips_are_not_built(census: tuple[Path, list[CensusRow]]) -> None:
    row = find(census[1], "foreign")
    assert row.passed == (Stage.FOUND, Stage.DEFINITION)
    assert not row.declared_for_chip
    assert row.failures[0].reason == "other chip"
    assert "`--as 910B`" in row.failures[0].message


def test_a_golden_that_ends_its_process_ends_neither_operator_nor_census(
    census: tuple[Path, list[CensusRow]],
) -> None:
    assert find(census[1], "deadly").failures[0].kind == "workload does not fit"
    assert len(census[1]) == 6


@pytest.mark.long
def test_an_operator_that_hangs_is_given_up(repository: Path, tmp_path: Path) -> None:
    top = tmp_path / "ops"
    golden(add(top, "slow"), GOLDEN_THAT_HANGS)
    rows = take_census(
        top, CensusSettings(seconds=6, pool="local:1"), tmp_path / "out", lambda *_: None
    )
    assert "not done after 6 s" in rows[0].failures[0].message


def test_a_second_census_tries_only_what_is_missing(
    repository: Path, census: tuple[Path, list[CensusRow]]
) -> None:
    out, rows = census
    file = out / ROWS
    lines = file.read_text().splitlines()
    kept = [line for line in lines if '"name":"foreign"' not in line]
    file.write_text("\n".join(kept) + "\n" + lines[0][:20])  # killed while writing
    tried: list[str] = []
    again = take_census(
        repository, CensusSettings(pool="local:1"), out, lambda row, *_: tried.append(row.name)
    )
    assert tried == ["foreign"]
    assert [row.name for row in again] == [row.name for row in rows]
    assert len(rows_of(file).rows) == len(rows)


@pytest.mark.parametrize("glob", ["math/for*", "fore*n", "src/*/foreign"])
def test_the_glob_selects_by_name_category_and_path(
    repository: Path, tmp_path: Path, glob: str
) -> None:
    chosen = CensusSettings(operators=glob, pool="local:1")
    rows = take_census(repository, chosen, tmp_path, lambda *_: None)
    assert [row.name for row in rows] == ["foreign"]
    with pytest.raises(InputError, match="No operator .* matches 'nobody'"):
        take_census(repository, CensusSettings(operators="nobody"), tmp_path, lambda *_: None)


def test_an_operator_whose_name_is_no_utf8_is_a_row(tmp_path: Path) -> None:
    top = tmp_path / "ops"
    host = next((add(top, "undeclared") / "op_host").glob("*.cpp"))
    host.write_text("int nothing;\n")
    odd = add(top, "odd")
    odd.rename(os.fsdecode(os.fsencode(odd) + b"\xff"))
    rows = take_census(top, CensusSettings(pool="local:1"), tmp_path / "out", lambda *_: None)
    assert [row.path for row in rows] == ["src/math/undeclared", "src/math/odd\\xff"]
    assert "no UTF-8" in rows[1].failures[0].message
    assert len(rows_of(tmp_path / "out" / ROWS).rows) == 2


def test_a_folder_without_operators_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no operator"):
        take_census(tmp_path, CensusSettings(), tmp_path / "out", lambda *_: None)


def test_the_nearest_folder_around_an_operator_names_its_workload(tmp_path: Path) -> None:
    top = tmp_path / "repo"
    root = top / "math" / "op"
    root.mkdir(parents=True)
    files = [tmp_path / "w" / name / "workload.yaml" for name in ("op", "repo/op", "math/op")]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text("")
        assert find_workload(root, tmp_path / "w", top) == file


def test_a_folder_that_a_repository_lies_in_names_no_workload(tmp_path: Path) -> None:
    top = tmp_path / "large" / "repo"
    root = top / "math" / "op"
    root.mkdir(parents=True)
    for name in ("op", "large/op"):
        file = tmp_path / "w" / name / "workload.yaml"
        file.parent.mkdir(parents=True)
        file.write_text("")
    assert find_workload(root, tmp_path / "w", top) == tmp_path / "w" / "op" / "workload.yaml"


@pytest.mark.long
def test_an_operator_for_another_chip_is_tried_as_ours_where_that_is_asked(
    repository: Path, tmp_path: Path
) -> None:
    settings = CensusSettings(operators="foreign", pool="local:1", as_="910B")
    rows = take_census(repository, settings, tmp_path, lambda *_: None)
    (row,) = rows
    assert Stage.RUNS in row.passed
    assert (row.tried_as, row.declared_for_chip) == ("910B", False)
    summary = summarize(rows)
    assert summary.for_chip == 0, "it counts in no figure of the chip"
    assert summary.tried_as[Stage.FOUND] == summary.tried_as[Stage.RUNS] == 1


def test_each_row_says_how_its_operator_is_built_and_who_says_so(
    census: tuple[Path, list[CensusRow]],
) -> None:
    row = find(census[1], "whole")
    facts = {one.fact: one.said_by for one in row.build_facts}
    assert facts[f"auto_sync {row.auto_sync}"] == row.auto_sync_said_by
    assert row.auto_sync_said_by.startswith("src/math/whole/CMakeLists.txt:")
