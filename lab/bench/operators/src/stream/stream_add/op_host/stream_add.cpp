#include "stream_add_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
namespace {
constexpr int64_t TILE_BYTES = 16384;
constexpr int64_t BLOCK_BYTES = 32;
}

static ge::graphStatus StreamAddTiling(gert::TilingContext* context)
{
    const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    const int64_t total = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    const int64_t size = context->GetInputDesc(0)->GetDataType() == ge::DT_FLOAT ? 4 : 2;
    const int64_t perBlock = BLOCK_BYTES / size;
    const int64_t cores = platform.GetCoreNumAiv();
    const int64_t blocks = (total + perBlock - 1) / perBlock;
    const int64_t perCore = (blocks + cores - 1) / cores * perBlock;

    StreamAddTilingData tiling;
    tiling.set_total(total);
    tiling.set_perCore(perCore);
    tiling.set_tile(TILE_BYTES / size);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim((total + perCore - 1) / perCore);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ops {
class StreamAdd : public OpDef {
public:
    explicit StreamAdd(const char* name) : OpDef(name)
    {
        const std::vector<ge::DataType> types = {ge::DT_FLOAT16, ge::DT_FLOAT};
        const std::vector<ge::Format> formats = {ge::FORMAT_ND, ge::FORMAT_ND};
        this->Input("x").ParamType(REQUIRED).DataType(types).Format(formats);
        this->Input("y").ParamType(REQUIRED).DataType(types).Format(formats);
        this->Output("z").ParamType(REQUIRED).DataType(types).Format(formats);
        this->AICore().SetTiling(optiling::StreamAddTiling);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(StreamAdd);
}  // namespace ops
