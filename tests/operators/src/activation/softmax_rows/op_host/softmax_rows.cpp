#include "softmax_rows_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
constexpr uint64_t KEY_SHORT_ROW = 1;   // a row stays in the UB
constexpr uint64_t KEY_LONG_ROW = 2;    // rows come twice, in chunks
constexpr uint32_t CHUNK_MAX = 6144;
constexpr uint32_t VECTOR_BYTES = 256;

static ge::graphStatus SoftmaxRowsTilingFunc(gert::TilingContext* context)
{
    SoftmaxRowsTilingData tiling;
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint32_t coreNum = platform.GetCoreNumAiv();
    auto shape = context->GetInputShape(0)->GetStorageShape();
    uint32_t columns = shape.GetDim(shape.GetDimNum() - 1);
    uint32_t rows = shape.GetShapeSize() / columns;
    uint32_t rowsPerCore = (rows + coreNum - 1) / coreNum;
    uint32_t blockDim = (rows + rowsPerCore - 1) / rowsPerCore;

    uint32_t unit = VECTOR_BYTES / sizeof(float);
    uint32_t columnsAlign = (columns + unit - 1) / unit * unit;
    bool shortRow = columnsAlign <= CHUNK_MAX;
    tiling.set_rows(rows);
    tiling.set_columns(columns);
    tiling.set_rowsPerCore(rowsPerCore);
    tiling.set_chunk(shortRow ? columnsAlign : CHUNK_MAX);
    context->SetBlockDim(blockDim);
    context->SetTilingKey(shortRow ? KEY_SHORT_ROW : KEY_LONG_ROW);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    size_t* currentWorkspace = context->GetWorkspaceSizes(1);
    currentWorkspace[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static ge::graphStatus SoftmaxRowsInferShape(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class SoftmaxRows : public OpDef {
public:
    explicit SoftmaxRows(const char* name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->SetInferShape(ge::SoftmaxRowsInferShape);
        this->AICore().SetTiling(optiling::SoftmaxRowsTilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(SoftmaxRows);
}  // namespace ops
