#include <cstring>
#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(CastHalfTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, totalLength);
  TILING_DATA_FIELD_DEF(uint32_t, formerNum);
  TILING_DATA_FIELD_DEF(uint32_t, formerLength);
  TILING_DATA_FIELD_DEF(uint32_t, tailLength);
  TILING_DATA_FIELD_DEF(uint32_t, tileLength);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(CastHalf, CastHalfTilingData)

constexpr uint32_t ALIGN_NUM = 16;       // half elements in 32 bytes
constexpr uint32_t TILE_LENGTH = 1536;

static uint64_t KeyOf(const char* mode)
{
    const char* modes[] = {"rint", "floor", "ceil", "trunc", "round"};
    for (uint64_t i = 0; i < 5; i++) {
        if (strcmp(mode, modes[i]) == 0) {
            return i + 1;
        }
    }
    return 0;
}

static ge::graphStatus CastHalfTiling(gert::TilingContext* context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint32_t blockDim = platform.GetCoreNumAiv();
    uint32_t totalLength = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    uint64_t key = KeyOf(context->GetAttrs()->GetStr(0));
    if (key == 0 || totalLength == 0) {
        return ge::GRAPH_FAILED;
    }
    uint32_t units = (totalLength + ALIGN_NUM - 1) / ALIGN_NUM;
    if (units < blockDim) {
        blockDim = units;
    }
    CastHalfTilingData tiling;
    tiling.set_totalLength(totalLength);
    tiling.set_formerNum(units % blockDim);
    tiling.set_formerLength((units / blockDim + 1) * ALIGN_NUM);
    tiling.set_tailLength(units / blockDim * ALIGN_NUM);
    tiling.set_tileLength(TILE_LENGTH);
    context->SetBlockDim(blockDim);
    context->SetTilingKey(key);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    size_t* workspace = context->GetWorkspaceSizes(1);
    workspace[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus CastHalfInferShape(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
}

static graphStatus CastHalfInferDataType(gert::InferDataTypeContext* context)
{
    context->SetOutputDataType(0, ge::DT_FLOAT16);
    return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class CastHalf : public OpDef {
public:
    explicit CastHalf(const char* name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT})
            .Format({ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16})
            .Format({ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND});
        this->Attr("round_mode").AttrType(OPTIONAL).String("rint");
        this->SetInferShape(ge::CastHalfInferShape).SetInferDataType(ge::CastHalfInferDataType);
        this->AICore().SetTiling(optiling::CastHalfTiling);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(CastHalf);
}  // namespace ops
