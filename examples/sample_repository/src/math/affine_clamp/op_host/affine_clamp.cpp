#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(AffineClampTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, totalLength);
  TILING_DATA_FIELD_DEF(uint32_t, blockLength);
  TILING_DATA_FIELD_DEF(uint32_t, tileNum);
  TILING_DATA_FIELD_DEF(uint32_t, tileLength);
  TILING_DATA_FIELD_DEF(float, alpha);
  TILING_DATA_FIELD_DEF(float, beta);
  TILING_DATA_FIELD_DEF(float, low);
  TILING_DATA_FIELD_DEF(float, high);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(AffineClamp, AffineClampTilingData)

const uint32_t BLOCK_DIM = 8;
const uint32_t TILE_BYTES = 4096;
const uint32_t BLOCK_BYTES = 32;

static ge::graphStatus TilingForAffineClamp(gert::TilingContext* context)
{
    AffineClampTilingData tiling;
    const gert::StorageShape* xShape = context->GetInputShape(0);
    const auto* xDesc = context->GetInputDesc(0);
    if (xShape == nullptr || xDesc == nullptr) {
        return ge::GRAPH_FAILED;
    }
    uint32_t totalLength = xShape->GetStorageShape().GetShapeSize();
    uint32_t typeSize = xDesc->GetDataType() == ge::DT_FLOAT ? 4 : 2;
    uint32_t blockElements = BLOCK_BYTES / typeSize;

    // whole 32-byte blocks for every core; the last core gets what is left
    uint32_t blocks = (totalLength + blockElements - 1) / blockElements;
    uint32_t blockDim = blocks < BLOCK_DIM ? blocks : BLOCK_DIM;
    uint32_t blockLength = (blocks + blockDim - 1) / blockDim * blockElements;
    blockDim = (totalLength + blockLength - 1) / blockLength;
    uint32_t tileLength = TILE_BYTES / typeSize;
    uint32_t tileNum = (blockLength + tileLength - 1) / tileLength;

    const gert::RuntimeAttrs* attrs = context->GetAttrs();
    tiling.set_alpha(*attrs->GetFloat(0));
    tiling.set_beta(*attrs->GetFloat(1));
    tiling.set_low(*attrs->GetFloat(2));
    tiling.set_high(*attrs->GetFloat(3));
    tiling.set_totalLength(totalLength);
    tiling.set_blockLength(blockLength);
    tiling.set_tileNum(tileNum);
    tiling.set_tileLength(tileLength);

    context->SetBlockDim(blockDim);
    context->SetTilingKey(0);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    size_t* currentWorkspace = context->GetWorkspaceSizes(1);
    currentWorkspace[0] = 0;
    return ge::GRAPH_SUCCESS;
}

struct AffineClampCompileInfo {};

static ge::graphStatus TilingPrepareForAffineClamp(gert::TilingParseContext* context)
{
    return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(AffineClamp)
    .Tiling(TilingForAffineClamp)
    .TilingParse<AffineClampCompileInfo>(TilingPrepareForAffineClamp);
}  // namespace optiling

namespace ops {
static ge::graphStatus InferShapeForAffineClamp(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return ge::GRAPH_SUCCESS;
}

class AffineClamp : public OpDef {
public:
    explicit AffineClamp(const char* name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("alpha").AttrType(OPTIONAL).Float(1.0);
        this->Attr("beta").AttrType(OPTIONAL).Float(0.0);
        this->Attr("low").AttrType(OPTIONAL).Float(-1.0);
        this->Attr("high").AttrType(OPTIONAL).Float(1.0);
        this->SetInferShape(InferShapeForAffineClamp);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(AffineClamp);
}  // namespace ops
