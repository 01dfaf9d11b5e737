#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(GatherRowsTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, indexNum);
  TILING_DATA_FIELD_DEF(uint32_t, indexPerCore);
  TILING_DATA_FIELD_DEF(uint32_t, rowNum);
  TILING_DATA_FIELD_DEF(uint32_t, rowLength);
  TILING_DATA_FIELD_DEF(uint32_t, rowTile);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(GatherRows, GatherRowsTilingData)

constexpr uint32_t UB_FOR_ROWS = 64 * 1024;
constexpr uint32_t DEPTH = 2;
constexpr uint32_t INDEX_ALIGN = 8;

static ge::graphStatus GatherRowsTiling(gert::TilingContext* context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint32_t coreNum = platform.GetCoreNumAiv();
    auto tableShape = context->GetInputShape(0)->GetOriginShape();
    auto indexShape = context->GetInputShape(1)->GetOriginShape();
    if (tableShape.GetDimNum() != 2) {
        return ge::GRAPH_FAILED;
    }
    uint32_t typeBytes = context->GetInputDesc(0)->GetDataType() == ge::DT_FLOAT16 ? 2 : 4;
    uint32_t indexNum = indexShape.GetShapeSize();
    uint32_t indexPerCore = (indexNum + coreNum - 1) / coreNum;
    indexPerCore = (indexPerCore + INDEX_ALIGN - 1) / INDEX_ALIGN * INDEX_ALIGN;
    uint32_t rowLength = tableShape.GetDim(1);
    uint32_t rowTile = UB_FOR_ROWS / DEPTH / typeBytes;
    if (rowTile > rowLength) {
        rowTile = (rowLength + 15) / 16 * 16;
    }

    GatherRowsTilingData tiling;
    tiling.set_indexNum(indexNum);
    tiling.set_indexPerCore(indexPerCore);
    tiling.set_rowNum(tableShape.GetDim(0));
    tiling.set_rowLength(rowLength);
    tiling.set_rowTile(rowTile);
    context->SetBlockDim((indexNum + indexPerCore - 1) / indexPerCore);
    context->SetTilingKey(typeBytes);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus GatherRowsInferShape(gert::InferShapeContext* context)
{
    const gert::Shape* table = context->GetInputShape(0);
    const gert::Shape* index = context->GetInputShape(1);
    gert::Shape* y = context->GetOutputShape(0);
    y->SetDimNum(2);
    y->SetDim(0, index->GetShapeSize());
    y->SetDim(1, table->GetDim(1));
    return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class GatherRows : public OpDef {
public:
    explicit GatherRows(const char* name) : OpDef(name)
    {
        this->Input("table")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_INT32})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("indices")
            .ParamType(REQUIRED)
            .DataType({ge::DT_INT32, ge::DT_INT32, ge::DT_INT32})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_INT32})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->SetInferShape(ge::GatherRowsInferShape);
        this->AICore().SetTiling(optiling::GatherRowsTiling);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(GatherRows);
}  // namespace ops
