"""Skeletons whose kernel does nothing, on every way by which an operator comes in."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.backend.sim import SimulatorBackend
from ci.census.run import take_census
from ci.judge.evaluate import Evaluator
from ci.model.census import CensusSettings, Stage
from ci.model.derived import DeriveSettings
from ci.model.trial import Candidate, Outcome
from ci.session.derive import derive_workloads
from ci.source.discovery import load_operator
from ci.source.empty_body import EMPTY_BODY, NOTHING_TO_DO
from ci.source.workload_file import load_workload

HOST = """
#include "register/tilingdata_base.h"
#include "register/op_def_registry.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(SkeletonTilingData)
TILING_DATA_FIELD_DEF(uint32_t, size);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Skeleton, SkeletonTilingData)
static ge::graphStatus Tile(gert::TilingContext* context) {
    SkeletonTilingData tiling;
    tiling.set_size(context->GetInputShape(0)->GetStorageShape().GetShapeSize());
    context->SetBlockDim(8);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->GetWorkspaceSizes(1)[0] = 4096;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
namespace ge {
static graphStatus InferShape(gert::InferShapeContext* context) {
    for (size_t i = 0; i < OUTPUTS; ++i) *context->GetOutputShape(i) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
}
}  // namespace ge
namespace ops {
class Skeleton : public OpDef {
public:
    explicit Skeleton(const char* name) : OpDef(name) {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        DECLARED
        this->SetInferShape(ge::InferShape);
        this->AICore().SetTiling(optiling::Tile);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(Skeleton);
}  // namespace ops
"""

OUTPUT = (
    'this->Output("{}").ParamType(REQUIRED).DataType({{ge::DT_FLOAT}}).Format({{ge::FORMAT_ND}});'
)

BODIES = {
    "reads its tiling": "GET_TILING_DATA(tiling_data, tiling);\n    // TODO: user kernel impl",
    "reads its input": """GET_TILING_DATA(tiling_data, tiling);
    AscendC::GlobalTensor<float> from;
    from.SetGlobalBuffer((__gm__ float*)x, tiling_data.size);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 256);
    AscendC::DataCopy(buffer.Get<float>(), from, 8);""",
    "writes its workspace": """AscendC::GlobalTensor<float> to;
    to.SetGlobalBuffer((__gm__ float*)AscendC::GetUserWorkspace(workspace), 64);
    to.SetValue(AscendC::GetBlockIdx(), 1.0f);""",
}
WAYS = [
    *((("values",), body) for body in BODIES),
    *((("values", "indices"), body) for body in BODIES),
    (("x",), "reads its tiling"),
    ((), "reads its tiling"),
]


def skeleton(top: Path, outputs: tuple[str, ...], body: str) -> Path:
    """The folder of an operator with these outputs; one called x is the input."""
    place = top / "math" / "skeleton"
    declared = " ".join(map(OUTPUT.format, outputs))
    names = ["x", *(f"out_{i}" for i in range(len(outputs))), "workspace", "tiling"]
    parameters = ", ".join(f"GM_ADDR {name}" for name in names)
    host = HOST.replace("DECLARED", declared).replace("OUTPUTS", str(len(outputs)))
    kernel = f"""#include "kernel_operator.h"
extern "C" __global__ __aicore__ void skeleton({parameters}) {{
    {BODIES[body]}
}}
"""
    for name, text in (("op_host", host), ("op_kernel", kernel)):
        (place / name).mkdir(parents=True)
        (place / name / "skeleton.cpp").write_text(text)
    return place


@pytest.mark.few(1)
@pytest.mark.parametrize(("outputs", "body"), WAYS)
def test_census_and_derivation_take_no_skeleton_for_an_operator(
    tmp_path: Path, outputs: tuple[str, ...], body: str
) -> None:
    place = skeleton(tmp_path / "ops", outputs, body)
    settings = CensusSettings(pool="local:1")
    (row,) = take_census(tmp_path / "ops", settings, tmp_path / "census", lambda *_: None)
    assert Stage.KERNEL_BUILDS in row.passed and Stage.RUNS not in row.passed
    empty = body == "reads its tiling"
    assert {one.kind for one in row.failures} == {"empty kernel" if empty else "nothing to do"}
    (derived,) = derive_workloads([place], DeriveSettings(out=tmp_path / "out"))
    assert not derived.cases and (EMPTY_BODY if empty else NOTHING_TO_DO) in derived.refused


@pytest.mark.parametrize("outputs", [("values",), ("values", "indices"), ("x",)])
def test_a_workload_that_fills_the_outputs_first_does_not_make_it_one(
    tmp_path: Path, outputs: tuple[str, ...]
) -> None:
    place = skeleton(tmp_path / "ops", outputs, "reads its tiling")
    filled = "".join(f"  {name}: 0\n" for name in outputs if name != "x")
    (place / "workload.yaml").write_text(
        f"operator: Skeleton\n{'initial:' if filled else ''}\n{filled}"
        "cases:\n  - name: small\n    inputs: [{shape: [64], dtype: float32}]\n"
    )
    operator = load_operator(place)
    backend = SimulatorBackend("910B4", launch_seconds=20)
    trial = Evaluator(operator, load_workload(operator, None), backend).evaluate(Candidate(), 0)
    assert trial.outcome is Outcome.MEMORY_ERROR
    assert trial.refusal and trial.refusal.sentence == EMPTY_BODY


def test_a_launch_that_has_nothing_to_do_may_write_nothing(tmp_path: Path) -> None:
    place = skeleton(tmp_path / "ops", ("values",), "reads its tiling")
    (place / "workload.yaml").write_text(
        "operator: Skeleton\ncases:\n"
        "  - name: none\n    inputs: [{shape: [0], dtype: float32}]\n"
        "    outputs: [{shape: [0], dtype: float32}]\n"
    )
    operator = load_operator(place)
    backend = SimulatorBackend("910B4", launch_seconds=20)
    trial = Evaluator(operator, load_workload(operator, None), backend).evaluate(Candidate(), 0)
    assert trial.outcome is Outcome.OK, trial.refusal


def test_an_operator_in_place_whose_count_is_an_attribute_is_asked_for_more_than_none(
    tmp_path: Path,
) -> None:
    place = skeleton(tmp_path / "ops", (), "reads its tiling")
    host, kernel = place / "op_host" / "skeleton.cpp", place / "op_kernel" / "skeleton.cpp"
    text = host.read_text().replace(
        "context->GetInputShape(0)->GetStorageShape().GetShapeSize()",
        "*context->GetAttrs()->GetAttrPointer<int64_t>(0)",
    )
    counted = 'this->Attr("n").AttrType(OPTIONAL).Int(0);\n        this->SetInferShape'
    host.write_text(text.replace("this->SetInferShape", counted))
    doubled = """GET_TILING_DATA(tiling_data, tiling);
    AscendC::GlobalTensor<float> all;
    all.SetGlobalBuffer((__gm__ float*)x, 1024);
    for (uint32_t i = 0; i < tiling_data.size && AscendC::GetBlockIdx() == 0; ++i)
        all.SetValue(i, 2.0f);"""
    kernel.write_text(kernel.read_text().replace(BODIES["reads its tiling"], doubled))
    settings = CensusSettings(pool="local:1")
    (row,) = take_census(tmp_path / "ops", settings, tmp_path / "census", lambda *_: None)
    assert Stage.RUNS in row.passed and row.judged == "probed", row.failures
