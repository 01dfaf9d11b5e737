#include "foreach_scale_add_tiling.h"
#include <algorithm>
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
constexpr uint64_t TILE_LENGTH = 2048;
constexpr uint64_t MIN_CORE_LENGTH = 512;

static ge::graphStatus ForeachScaleAddTiling(gert::TilingContext* context)
{
    ForeachScaleAddTilingData tiling;
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t lengths[MAX_TENSORS] = {0};
    uint64_t total = 0;
    uint32_t tensorNum = 0;
    for (; tensorNum < MAX_TENSORS; tensorNum++) {
        auto shape = context->GetDynamicInputShape(0, tensorNum);
        if (shape == nullptr) {
            break;
        }
        lengths[tensorNum] = shape->GetStorageShape().GetShapeSize();
        total += lengths[tensorNum];
    }
    if (tensorNum == 0 || total == 0) {
        return ge::GRAPH_FAILED;
    }
    uint64_t wanted = (total + MIN_CORE_LENGTH - 1) / MIN_CORE_LENGTH;
    context->SetBlockDim(std::min<uint64_t>(wanted, platform.GetCoreNumAiv()));

    tiling.set_tensorNum(tensorNum);
    tiling.set_tileLength(TILE_LENGTH);
    tiling.set_alpha(*context->GetAttrs()->GetFloat(0));
    tiling.set_lengths(lengths);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetTilingKey(1);
    size_t* workspace = context->GetWorkspaceSizes(1);
    workspace[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ops {
class ForeachScaleAdd : public OpDef {
public:
    explicit ForeachScaleAdd(const char* name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(DYNAMIC)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND})
            .AutoContiguous();
        this->Input("z")
            .ParamType(DYNAMIC)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND})
            .AutoContiguous();
        this->Output("y")
            .ParamType(DYNAMIC)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("alpha").AttrType(OPTIONAL).Float(1.0);
        this->AICore().SetTiling(optiling::ForeachScaleAddTiling);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(ForeachScaleAdd);
}  // namespace ops
