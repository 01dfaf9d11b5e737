#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(RowSumTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, rows);
  TILING_DATA_FIELD_DEF(uint32_t, columns);
  TILING_DATA_FIELD_DEF(uint32_t, smallCoreRows);
  TILING_DATA_FIELD_DEF(uint32_t, bigCoreNum);     // the first cores take one row group more
  TILING_DATA_FIELD_DEF(uint32_t, chunk);          // columns of one copy
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(RowSum, RowSumTilingData)

constexpr uint32_t CHUNK = 4096;
constexpr uint32_t ROW_GROUP = 8;   // float results of eight rows fill a 32-byte block

static ge::graphStatus TilingFunc(gert::TilingContext* context)
{
    RowSumTilingData tiling;
    auto ascendcPlatform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint32_t coreNum = ascendcPlatform.GetCoreNumAiv();
    auto shape = context->GetInputTensor(0)->GetStorageShape();
    if (shape.GetDimNum() != 2) {
        return ge::GRAPH_FAILED;
    }
    uint32_t rows = shape.GetDim(0);
    uint32_t columns = shape.GetDim(1);

    uint32_t groups = (rows + ROW_GROUP - 1) / ROW_GROUP;
    uint32_t usedCores = std::min(groups, coreNum);
    tiling.set_rows(rows);
    tiling.set_columns(columns);
    tiling.set_smallCoreRows(groups / usedCores * ROW_GROUP);
    tiling.set_bigCoreNum(groups % usedCores);
    tiling.set_chunk(std::min(CHUNK, (columns + 63) / 64 * 64));

    context->SetBlockDim(usedCores);
    context->SetTilingKey(0);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    size_t* currentWorkspace = context->GetWorkspaceSizes(1);
    currentWorkspace[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static ge::graphStatus InferShape(gert::InferShapeContext* context)
{
    const gert::Shape* x = context->GetInputShape(0);
    gert::Shape* y = context->GetOutputShape(0);
    y->SetDimNum(1);
    y->SetDim(0, x->GetDim(0));
    return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class RowSum : public OpDef {
public:
    explicit RowSum(const char* name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->SetInferShape(ge::InferShape);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(RowSum);
}  // namespace ops
