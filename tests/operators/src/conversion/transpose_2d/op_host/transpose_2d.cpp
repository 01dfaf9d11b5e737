#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(Transpose2dTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, rows);
  TILING_DATA_FIELD_DEF(uint32_t, columns);
  TILING_DATA_FIELD_DEF(uint32_t, tileColumns);
  TILING_DATA_FIELD_DEF(uint32_t, tileNum);        // tiles of 16 rows by tileColumns
  TILING_DATA_FIELD_DEF(uint32_t, tilesPerCore);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Transpose2d, Transpose2dTilingData)

constexpr uint32_t CUBE = 16;
constexpr uint32_t MAX_TILE_COLUMNS = 256;

static ge::graphStatus Transpose2dTiling(gert::TilingContext* context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint32_t coreNum = platform.GetCoreNumAiv();
    const auto shape = context->GetInputShape(0)->GetStorageShape();
    if (shape.GetDimNum() != 2) {
        return ge::GRAPH_FAILED;
    }
    uint32_t rows = shape.GetDim(0);
    uint32_t columns = shape.GetDim(1);
    if (rows % CUBE != 0 || columns % CUBE != 0) {
        return ge::GRAPH_FAILED;
    }
    uint32_t tileColumns = columns < MAX_TILE_COLUMNS ? columns : MAX_TILE_COLUMNS;
    while (columns % tileColumns != 0) {
        tileColumns -= CUBE;
    }
    uint32_t tileNum = rows / CUBE * (columns / tileColumns);
    uint32_t tilesPerCore = (tileNum + coreNum - 1) / coreNum;

    Transpose2dTilingData tiling;
    tiling.set_rows(rows);
    tiling.set_columns(columns);
    tiling.set_tileColumns(tileColumns);
    tiling.set_tileNum(tileNum);
    tiling.set_tilesPerCore(tilesPerCore);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim((tileNum + tilesPerCore - 1) / tilesPerCore);
    context->SetTilingKey(0);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus Transpose2dInferShape(gert::InferShapeContext* context)
{
    const gert::Shape* x = context->GetInputShape(0);
    gert::Shape* y = context->GetOutputShape(0);
    y->SetDimNum(2);
    y->SetDim(0, x->GetDim(1));
    y->SetDim(1, x->GetDim(0));
    return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class Transpose2d : public OpDef {
public:
    explicit Transpose2d(const char* name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_INT16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_INT16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->SetInferShape(ge::Transpose2dInferShape);
        this->AICore().SetTiling(optiling::Transpose2dTiling);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(Transpose2d);
}  // namespace ops
