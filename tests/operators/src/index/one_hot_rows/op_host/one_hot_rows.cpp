#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(OneHotRowsTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, count);
  TILING_DATA_FIELD_DEF(uint32_t, depth);
  TILING_DATA_FIELD_DEF(uint32_t, countPerCore);
  TILING_DATA_FIELD_DEF(uint32_t, rowsPerTile);
  TILING_DATA_FIELD_DEF(float, onValue);
  TILING_DATA_FIELD_DEF(float, offValue);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(OneHotRows, OneHotRowsTilingData)

static ge::graphStatus TilingFunc(gert::TilingContext* context)
{
    constexpr uint32_t tileElements = 8 * 1024;
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint32_t cores = platform.GetCoreNumAiv();
    uint32_t count = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    auto attrs = context->GetAttrs();
    uint32_t depth = static_cast<uint32_t>(*attrs->GetInt(0));
    if (depth == 0 || depth > tileElements || count == 0) {
        return ge::GRAPH_FAILED;
    }
    OneHotRowsTilingData tiling;
    uint32_t countPerCore = (count + cores - 1) / cores;
    countPerCore = (countPerCore + 7) / 8 * 8;   // whole blocks of outputs and of indices
    tiling.set_count(count);
    tiling.set_depth(depth);
    tiling.set_countPerCore(countPerCore);
    uint32_t rowsPerTile = tileElements / depth;
    tiling.set_rowsPerTile(rowsPerTile < countPerCore ? rowsPerTile : countPerCore);
    tiling.set_onValue(*attrs->GetFloat(1));
    tiling.set_offValue(*attrs->GetFloat(2));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim((count + countPerCore - 1) / countPerCore);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ops {
class OneHotRows : public OpDef {
public:
    explicit OneHotRows(const char* name) : OpDef(name)
    {
        this->Input("indices")
            .ParamType(REQUIRED)
            .DataType({ge::DT_INT32, ge::DT_INT32})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_INT32})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("depth").AttrType(REQUIRED).Int();
        this->Attr("on_value").AttrType(OPTIONAL).Float(1.0);
        this->Attr("off_value").AttrType(OPTIONAL).Float(0.0);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(OneHotRows);
}  // namespace ops
