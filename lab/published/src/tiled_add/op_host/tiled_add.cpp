// z = x + bias over half, in the versions that the samples of msopprof publish figures of. The tiling
// key is the version; what a version does stands in the kernel.
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(TiledAddTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, total);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(TiledAdd, TiledAddTilingData)

constexpr uint32_t CORES[] = {1, 8, 8, 8, 8, 1, 1};  // by version

static ge::graphStatus Tile(gert::TilingContext* context)
{
    TiledAddTilingData tiling;
    const auto& shape = context->GetInputShape(0)->GetStorageShape();
    const int64_t version = *context->GetAttrs()->GetInt(0);
    tiling.set_total(shape.GetShapeSize());
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(CORES[version]);
    context->SetTilingKey(version);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

struct TiledAddCompileInfo {};
static ge::graphStatus Prepare(gert::TilingParseContext*) { return ge::GRAPH_SUCCESS; }
IMPL_OP_OPTILING(TiledAdd)
    .Tiling(Tile)
    .TilingParse<TiledAddCompileInfo>(Prepare);
}  // namespace optiling

namespace ops {
static ge::graphStatus InferShape(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return ge::GRAPH_SUCCESS;
}

class TiledAdd : public OpDef {
public:
    explicit TiledAdd(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("bias").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Attr("version").AttrType(REQUIRED).Int();
        this->SetInferShape(InferShape);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(TiledAdd);
}  // namespace ops
