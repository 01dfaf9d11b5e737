#include "scalar_scale_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
namespace {
constexpr int64_t TILE = 2048;
constexpr int64_t PER_BLOCK = 8;
}

static ge::graphStatus ScalarScaleTiling(gert::TilingContext* context)
{
    const int64_t total = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    const int64_t tile = *context->GetAttrs()->GetAttrPointer<int64_t>(0);
    const int64_t cores = *context->GetAttrs()->GetAttrPointer<int64_t>(1);
    const int64_t blocks = (total + PER_BLOCK - 1) / PER_BLOCK;
    const int64_t perCore = (blocks + cores - 1) / cores * PER_BLOCK;

    ScalarScaleTilingData tiling;
    tiling.set_total(total);
    tiling.set_perCore(perCore);
    tiling.set_tile(tile);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim((total + perCore - 1) / perCore);
    context->SetTilingKey(tile > 0 ? 1 : 0);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ops {
class ScalarScale : public OpDef {
public:
    explicit ScalarScale(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        // Elements a tile when it goes through the unified buffer, 0 when it stays in GM.
        this->Attr("tile").AttrType(OPTIONAL).Int(optiling::TILE);
        this->Attr("cores").AttrType(OPTIONAL).Int(1);
        this->AICore().SetTiling(optiling::ScalarScaleTiling);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(ScalarScale);
}  // namespace ops
