"""What the host side is asked about that nobody launches."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ci.judge.check.small_operator import (
    TWICE,
    changed,
    checked,
    edited,
    found,
    line_with,
    write_operator,
)

TILES = """    platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
    int64_t cores = chip.GetCoreNumAiv();
    int64_t width = *context->GetAttrs()->GetInt(0);
    int64_t rows = context->GetInputShape(0)->GetOriginShape()[0];
    int64_t parts = 4096 / (DIVISOR % cores);
    context->SetBlockDim(parts < 0 ? 1 : """


@pytest.mark.long
@pytest.mark.parametrize(
    ("divisor", "where"),
    [("(width < 1 ? 1 : (width + 15) / 16)", "width=640"), ("((rows + 23) / 24)", "960")],
)
def test_a_share_of_the_cores_that_leaves_nothing_to_divide_by_is_named(
    tmp_path: Path, divisor: str, where: str
) -> None:
    folder = changed(
        tmp_path / "host",
        "op_host/small.cpp",
        "    context->SetBlockDim(",
        TILES.replace("DIVISOR", divisor),
    )
    core = "        this->AICore().SetTiling"
    attribute = '        this->Attr("width").AttrType(OPTIONAL).Int(24);'
    edited(folder, ("op_host/small.cpp", core, f"{attribute}\n{core}"))
    (crash,) = found(checked(folder, varied=1), "host_crash")
    assert crash.place.source == line_with(folder, "parts = 4096")
    assert where in crash.place.case
    assert crash.alone
    edited(folder, ("op_host/small.cpp", "% cores)", "% cores + 1)"))
    assert found(checked(folder, varied=1), "host_crash") == []


@pytest.mark.long
def test_an_operator_that_fails_on_its_own_case_is_asked_about_lengths_too(tmp_path: Path) -> None:
    folder = write_operator(tmp_path / "small", "y.SetValue(n, 1.0f);", golden="x")
    host = folder / "op_host/small.cpp"
    blocks = "    context->SetBlockDim("
    rows = "context->GetInputShape(0)->GetOriginShape()[0]"
    left = f"    int64_t left = 4096 / (({rows} + 23) / 24 % 40);\n{blocks}left < 0 ? 1 : "
    host.write_text(host.read_text().replace(blocks, left))
    report = checked(folder, varied=1)
    assert found(report, "memory_error")
    (crash,) = found(report, "host_crash")
    assert crash.place.source == line_with(folder, "left = 4096")


@pytest.mark.long
def test_a_number_below_zero_that_the_host_side_reads_is_asked_about(tmp_path: Path) -> None:
    folder = write_operator(tmp_path / "small", TWICE, golden="x * np.float32(2)")
    blocks, output = "    context->SetBlockDim(", '        this->Output("y")'
    read = "context->GetInputTensor(1)->GetData<int32_t>()[1]"
    axes = "DataType({ge::DT_INT32}).Format({ge::FORMAT_ND}).ValueDepend(REQUIRED);"
    edited(
        folder,
        (
            "op_host/small.cpp",
            blocks,
            f"    int left = 64 / ({read} + 1);\n{blocks}left < 0 ? 1 : ",
        ),
        (
            "op_host/small.cpp",
            output,
            f'        this->Input("axes").ParamType(REQUIRED).{axes}\n{output}',
        ),
        ("op_kernel/small.cpp", "small(GM_ADDR x,", "small(GM_ADDR x, GM_ADDR axes,"),
        ("golden.py", "small(x)", "small(x, axes)"),
        ("workload.yaml", "range: [-4, 4]}", "range: [-4, 4]}, axes: {shape: [2], range: [0, 1]}"),
    )
    (crash,) = found(checked(folder, varied=1), "host_crash")
    assert crash.place.source == line_with(folder, "left = 64")
    assert ", -1] as axes" in crash.place.case
