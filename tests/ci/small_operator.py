"""A small operator in the cann-ops layout, written to a folder by the tests that need one."""

from __future__ import annotations

from pathlib import Path

DEFINITION = """
#include "register/op_def_registry.h"
namespace ops {
static const std::vector<ge::DataType> MASKS = {ge::DT_UINT8, ge::DT_UINT8};
class ScaleMask : public OpDef {
public:
    explicit ScaleMask(const char* name) : OpDef(name) {
        this->Input("x")
            .ParamType(REQUIRED)  // the data
            .DataType({ge::DT_FLOAT, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("mask").ParamType(OPTIONAL).DataType(MASKS);
        this->Input("weights").ParamType(DYNAMIC).DataType({ge::DT_FLOAT, ge::DT_FLOAT});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_BF16});
        this->Attr("scale").AttrType(REQUIRED).Float();
        this->Attr("axes").AttrType(OPTIONAL).ListInt({0, -1});
        this->Attr("mode").AttrType(OPTIONAL).String("mean");
        this->AICore().SetTiling(optiling::Tile);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(ScaleMask);
}  // namespace ops
"""

TILING = """
#include "register/tilingdata_base.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(Part)
TILING_DATA_FIELD_DEF(uint8_t, small);
TILING_DATA_FIELD_DEF_ARR(int16_t, 3, list);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(PartOp, Part)
BEGIN_TILING_DATA_DEF(ScaleMaskTilingData)
TILING_DATA_FIELD_DEF(uint32_t, total);
TILING_DATA_FIELD_DEF(float, scale);
TILING_DATA_FIELD_DEF(uint8_t, forgotten);
TILING_DATA_FIELD_DEF_STRUCT(Part, part);
TILING_DATA_FIELD_DEF(uint64_t, ub);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ScaleMask, ScaleMaskTilingData)

static ge::graphStatus Tile(gert::TilingContext* context) {
    ScaleMaskTilingData tiling;
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t ub = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ub);
    const float scale = *context->GetAttrs()->GetFloat(0);
    if (scale < 0) {
        REPORT_INNER_ERR_MSG("E1", "the scale %g is negative", scale);
        return ge::GRAPH_FAILED;
    }
    const uint32_t total = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    int16_t list[3] = {7, 8, 9};
    tiling.set_total(total);
    tiling.set_scale(scale);
    tiling.part.set_small(5);
    tiling.part.set_list(list);
    tiling.set_ub(ub);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(total < platform.GetCoreNumAiv() ? 1 : platform.GetCoreNumAiv());
    context->SetTilingKey(context->GetOptionalInputShape(1) == nullptr ? 10 : 11);
    context->GetWorkspaceSizes(1)[0] = 1024;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
namespace ge {
static graphStatus InferShape(gert::InferShapeContext* context) {
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
}
}  // namespace ge
"""

KERNEL = """
#include "kernel_operator.h"
class Scale {
public:
    __aicore__ inline void Process() {}
};
extern "C" __global__ __aicore__ void scale_mask(GM_ADDR x, GM_ADDR mask, GM_ADDR weights,
    GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
    Scale op;
    op.Process();
}
"""


def write_operator(
    folder: Path,
    *,
    host: str = TILING + DEFINITION,
    kernel: str = KERNEL,
    cmake: str = "",
) -> Path:
    """The operator's folder, `folder`/src/math/scale_mask."""
    root = folder / "src" / "math" / "scale_mask"
    for name, text in (("op_host", host), ("op_kernel", kernel)):
        (root / name).mkdir(parents=True, exist_ok=True)
        if text:
            (root / name / "scale_mask.cpp").write_text(text)
    if cmake:
        (root / "CMakeLists.txt").write_text(cmake)
    return root
