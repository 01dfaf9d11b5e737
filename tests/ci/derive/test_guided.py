"""Tilings whose checks no usual case passes, built and asked with the real compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.backend.sim import SimulatorBackend
from ci.derive import guided
from ci.derive.accepted_cases import NoWorkload, taken_cases
from ci.derive.candidates import generic_case
from ci.derive.case_places import Changing
from ci.derive.guided import CHANGED, SOURCE, is_guided
from ci.derive.host_queries import Asker, watched_asker
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source.discovery import load_operator

HOST = """
#include <algorithm>
#include <vector>
#include "register/tilingdata_base.h"
#include "register/op_def_registry.h"
namespace optiling {
static const std::vector<int64_t> WIDTHS = {96, 224};
static ge::graphStatus Tile(gert::TilingContext* context) {
    const auto& x = context->GetInputShape(0)->GetStorageShape();
    const auto& w = context->GetInputShape(1)->GetStorageShape();
    const auto* bias = context->GetOptionalInputShape(2);
    const int64_t groups = *context->GetAttrs()->GetInt(0);
    CHECKS
    context->SetBlockDim(1);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
namespace ops {
class Picky : public OpDef {
public:
    explicit Picky(const char* name) : OpDef(name) {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_INT8});
        this->Input("w").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_INT8});
        this->Input("bias").ParamType(OPTIONAL).DataType({ge::DT_FLOAT, ge::DT_FLOAT});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT});
        this->Attr("groups").AttrType(OPTIONAL).Int(INT64_MAX);
        this->AICore().SetTiling(optiling::Tile);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(Picky);
}  // namespace ops
"""
KERNEL = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void picky(GM_ADDR x, GM_ADDR w, GM_ADDR, GM_ADDR y, GM_ADDR t) {}
"""

CHECKS = {
    "ranks and a product": ("x.GetDimNum() != 3", "w.GetDim(1) != x.GetDim(1) * x.GetDim(2)"),
    "a value of a list": (
        "std::find(WIDTHS.begin(), WIDTHS.end(), x.GetDim(1)) == WIDTHS.end()",
        "w.GetDimNum() != 4",
    ),
    "an attribute's default": ("groups != INT64_MAX", "w.GetDim(0) != 7"),
    "a dtype and an optional input": (
        "context->GetInputDesc(0)->GetDataType() != ge::DT_INT8",
        "bias == nullptr",
        "bias->GetStorageShape().GetDim(0) != 2 * x.GetDim(0)",
    ),
    "a multiple and limits": ("x.GetDim(0) % 48 != 0", "x.GetDim(0) < 500", "w.GetDim(0) > 5"),
}


def asked(top: Path, checks: tuple[str, ...], example: str = "") -> list[tuple[str, WorkloadCase]]:
    for folder, text in (("op_host", HOST), ("op_kernel", KERNEL)):
        (top / folder).mkdir(parents=True)
        text = text.replace(
            "CHECKS", "".join(f"if ({c}) return ge::GRAPH_FAILED;\n" for c in checks)
        )
        (top / folder / "picky.cpp").write_text(text)
    if example:
        (top / "examples").mkdir()
        (top / "examples" / "main.cpp").write_text(example)
    operator = load_operator(top)
    frame = Workload(operator="Picky", cases=(generic_case(operator),), folder=top)
    build = SimulatorBackend("910B4").build(operator, {}, frame)
    taken = taken_cases(operator, Asker(build), lambda: watched_asker(build))
    return [(option.source, option.taken.case) for option in taken]


@pytest.mark.long
@pytest.mark.few(2)
@pytest.mark.every_level
@pytest.mark.parametrize("checks", CHECKS.values(), ids=CHECKS)
def test_the_comparisons_of_a_tiling_lead_to_cases_that_it_takes(
    tmp_path: Path, checks: tuple[str, ...]
) -> None:
    found = asked(tmp_path / "picky", checks)
    assert found
    assert {source for source, _ in found} <= {SOURCE, "generic shapes"}


@pytest.mark.long
@pytest.mark.every_level
def test_what_is_taken_keeps_what_the_repository_s_example_says(tmp_path: Path) -> None:
    example = "vector<int64_t> x_shape = {40, 77};\nvector<int64_t> w_shape = {5, 9};\n"
    checks = ("x.GetDimNum() != 2", "w.GetDim(1) != x.GetDim(1)", "groups != 3")
    found = asked(tmp_path / "picky", checks, example)
    assert {source for source, _ in found} == {CHANGED.format("example shapes")}
    assert all(is_guided(source) for source, _ in found) and is_guided(SOURCE)
    shapes = [
        {n for t in case.inputs if isinstance(t, TensorCase) for n in t.shape} for _, case in found
    ]
    assert any({40, 77} <= lengths or {5, 9} <= lengths for lengths in shapes)


def test_a_tiling_that_takes_nothing_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guided, "MOST_ASKED", 200)
    with pytest.raises(NoWorkload, match="takes none of the"):
        asked(tmp_path / "picky", ("x.GetDim(0) * 0 == 0",))


def test_a_tiling_that_crashes_is_given_up_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guided, "MOST_ASKED", 20)
    with pytest.raises(NoWorkload, match=r"SIGSEGV.*op_host/picky\.cpp:\d+"):
        asked(tmp_path / "picky", ("*reinterpret_cast<volatile int*>(8) == 0",))


def test_a_number_becomes_another_wherever_the_case_may_have_it_from(tmp_path: Path) -> None:
    (tmp_path / "op_host").mkdir()
    (tmp_path / "op_kernel").mkdir()
    (tmp_path / "op_host" / "picky.cpp").write_text(HOST.replace("CHECKS", ""))
    (tmp_path / "op_kernel" / "picky.cpp").write_text(KERNEL)
    operator = load_operator(tmp_path)
    absent = TensorCase(shape=(1,), dtype="float32", present=False)
    x, w = (TensorCase(shape=shape, dtype="float32") for shape in ((4, 24), (24, 5)))
    case = WorkloadCase(name="c", inputs=(x, w, absent), attrs={"groups": 24})
    made = [*Changing(operator, case).becoming(24, 48)]

    def shapes(one: WorkloadCase) -> list[tuple[int, ...]]:
        return [t.shape for t in one.inputs if isinstance(t, TensorCase) and t.present]

    assert [(4, 48), (24, 5)] in map(shapes, made)
    assert [(4, 24), (48, 5)] in map(shapes, made)
    assert [(4, 48), (48, 5)] in map(shapes, made), "both at once"
    assert [(8, 24), (24, 5)] in map(shapes, made), "24 may be six times 4"
    assert any(one.attrs == {"groups": 48} for one in made)
