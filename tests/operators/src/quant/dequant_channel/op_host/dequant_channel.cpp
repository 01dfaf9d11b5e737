#include <algorithm>
#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(DequantChannelTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, rows);
  TILING_DATA_FIELD_DEF(uint32_t, channels);
  TILING_DATA_FIELD_DEF(uint32_t, rowsPerCore);
  TILING_DATA_FIELD_DEF(uint32_t, channelTile);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(DequantChannel, DequantChannelTilingData)

static constexpr uint64_t KEY_SCALE = 1;
static constexpr uint64_t KEY_SCALE_BIAS = 2;
static constexpr uint32_t BLOCK_INT8 = 32;

static ge::graphStatus DequantChannelTiling(gert::TilingContext* context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t ubSize;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubSize);
    uint32_t coreNum = platform.GetCoreNumAiv();
    auto qShape = context->GetInputShape(0)->GetStorageShape();
    uint32_t channels = qShape.GetDim(qShape.GetDimNum() - 1);
    if (context->GetInputShape(1)->GetStorageShape().GetShapeSize() != channels) {
        return ge::GRAPH_FAILED;
    }
    bool hasBias = context->GetOptionalInputShape(2) != nullptr;
    uint32_t rows = qShape.GetShapeSize() / channels;
    uint32_t rowsPerCore = (rows + coreNum - 1) / coreNum;

    // int8 and half twice each (two buffers), half and float scratch, scale and bias in float
    uint32_t bytesPerChannel = 2 * (1 + 2) + 2 + 4 + 4 + 4;
    uint32_t fit = static_cast<uint32_t>(ubSize / bytesPerChannel) / BLOCK_INT8 * BLOCK_INT8;
    uint32_t aligned = (channels + BLOCK_INT8 - 1) / BLOCK_INT8 * BLOCK_INT8;

    DequantChannelTilingData tiling;
    tiling.set_rows(rows);
    tiling.set_channels(channels);
    tiling.set_rowsPerCore(rowsPerCore);
    tiling.set_channelTile(std::min(fit, aligned));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim((rows + rowsPerCore - 1) / rowsPerCore);
    context->SetTilingKey(hasBias ? KEY_SCALE_BIAS : KEY_SCALE);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus DequantChannelInferShape(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
}

static graphStatus DequantChannelInferDataType(gert::InferDataTypeContext* context)
{
    context->SetOutputDataType(0, ge::DT_FLOAT16);
    return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class DequantChannel : public OpDef {
public:
    explicit DequantChannel(const char* name) : OpDef(name)
    {
        this->Input("q")
            .ParamType(REQUIRED)
            .DataType({ge::DT_INT8})
            .Format({ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND});
        this->Input("scale")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT})
            .Format({ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND});
        this->Input("bias")
            .ParamType(OPTIONAL)
            .DataType({ge::DT_FLOAT})
            .Format({ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16})
            .Format({ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND});
        this->SetInferShape(ge::DequantChannelInferShape)
            .SetInferDataType(ge::DequantChannelInferDataType);
        this->AICore().SetTiling(optiling::DequantChannelTiling);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(DequantChannel);
}  // namespace ops
