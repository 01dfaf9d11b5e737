#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(RoundToInt4TilingData)
  TILING_DATA_FIELD_DEF(uint32_t, total);
  TILING_DATA_FIELD_DEF(uint32_t, perCore);
  TILING_DATA_FIELD_DEF(float, scale);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(RoundToInt4, RoundToInt4TilingData)

constexpr uint32_t LINE = 128;   // elements: 64 bytes of packed results

static ge::graphStatus RoundToInt4Tiling(gert::TilingContext* context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint32_t cores = platform.GetCoreNumAiv();
    uint32_t total = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    if (total == 0 || total % LINE != 0) {
        return ge::GRAPH_FAILED;
    }
    uint32_t perCore = (total / LINE + cores - 1) / cores * LINE;
    context->SetBlockDim((total + perCore - 1) / perCore);

    RoundToInt4TilingData tiling;
    tiling.set_total(total);
    tiling.set_perCore(perCore);
    tiling.set_scale(*context->GetAttrs()->GetFloat(0));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus RoundToInt4InferShape(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
}

static graphStatus RoundToInt4InferDataType(gert::InferDataTypeContext* context)
{
    context->SetOutputDataType(0, ge::DT_INT4);
    return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class RoundToInt4 : public OpDef {
public:
    explicit RoundToInt4(const char* name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16})
            .Format({ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_INT4})
            .Format({ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND});
        this->Attr("scale").AttrType(REQUIRED).Float();
        this->SetInferShape(ge::RoundToInt4InferShape)
            .SetInferDataType(ge::RoundToInt4InferDataType);
        this->AICore().SetTiling(optiling::RoundToInt4Tiling);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(RoundToInt4);
}  // namespace ops
