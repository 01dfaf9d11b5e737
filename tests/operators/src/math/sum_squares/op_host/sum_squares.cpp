#include <algorithm>
#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(SumSquaresTilingData)
  TILING_DATA_FIELD_DEF(uint64_t, length);
  TILING_DATA_FIELD_DEF(uint64_t, lengthPerCore);
  TILING_DATA_FIELD_DEF(uint32_t, tile);
  TILING_DATA_FIELD_DEF(uint32_t, usedCores);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(SumSquares, SumSquaresTilingData)

static constexpr uint32_t TILE = 4096;
static constexpr uint64_t MIN_PER_CORE = 2048;   // less is not worth waking a core for
static constexpr size_t PARTIAL_BYTES = 32;      // a core's partial sum has a block of its own

static ge::graphStatus SumSquaresTiling(gert::TilingContext* context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    const uint64_t coreNum = platform.GetCoreNumAiv();
    const uint64_t length = context->GetInputShape(0)->GetStorageShape().GetShapeSize();

    uint64_t lengthPerCore = std::max((length + coreNum - 1) / coreNum, MIN_PER_CORE);
    lengthPerCore = (lengthPerCore + 63) / 64 * 64;
    const uint32_t usedCores = (length + lengthPerCore - 1) / lengthPerCore;

    SumSquaresTilingData tiling;
    tiling.set_length(length);
    tiling.set_lengthPerCore(lengthPerCore);
    tiling.set_tile(TILE);
    tiling.set_usedCores(usedCores);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());

    context->SetBlockDim(usedCores);
    context->SetScheduleMode(1);   // SyncAll needs all blocks to run at once
    context->SetTilingKey(1);
    size_t* workspace = context->GetWorkspaceSizes(1);
    workspace[0] = platform.GetLibApiWorkSpaceSize() + usedCores * PARTIAL_BYTES;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static ge::graphStatus InferShape(gert::InferShapeContext* context)
{
    gert::Shape* y = context->GetOutputShape(0);
    y->SetDimNum(1);
    y->SetDim(0, 1);
    return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class SumSquares : public OpDef {
public:
    explicit SumSquares(const char* name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->SetInferShape(ge::InferShape);
        this->AICore().SetTiling(optiling::SumSquaresTiling);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(SumSquares);
}  // namespace ops
