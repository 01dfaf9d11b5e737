#include "row_mean_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace {
constexpr uint32_t kBlock = 8;            // elements of float in 32 bytes
constexpr uint32_t kLongestRow = 4096;
}

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext* context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint32_t cores = platform.GetCoreNumAiv();
    auto shape = context->GetInputShape(0)->GetStorageShape();
    uint32_t length = shape.GetDim(shape.GetDimNum() - 1);
    if (length == 0 || length % kBlock != 0 || length > kLongestRow) {
        return ge::GRAPH_FAILED;
    }
    uint32_t rows = shape.GetShapeSize() / length;
    uint32_t rowsPerCore = (rows + cores - 1) / cores;
    rowsPerCore = (rowsPerCore + kBlock - 1) / kBlock * kBlock;   // whole blocks of row results
    context->SetBlockDim((rows + rowsPerCore - 1) / rowsPerCore);

    RowMeanTilingData tiling;
    tiling.set_rows(rows);
    tiling.set_length(length);
    tiling.set_rowsPerCore(rowsPerCore);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus InferShape(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    context->GetOutputShape(0)->SetDimNum(context->GetInputShape(0)->GetDimNum() - 1);
    return GRAPH_SUCCESS;
}

static graphStatus InferDataType(gert::InferDataTypeContext* context)
{
    context->SetOutputDataType(0, ge::DT_FLOAT);
    return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class RowMean : public OpDef {
public:
    explicit RowMean(const char* name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT})
            .Format({ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT})
            .Format({ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND});
        this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(RowMean);
}  // namespace ops
