// Sums of 256 floats within the unified buffer, as the case chooses.
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(Reduce256TilingData)
  TILING_DATA_FIELD_DEF(uint32_t, kind);
  TILING_DATA_FIELD_DEF(uint32_t, times);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Reduce256, Reduce256TilingData)

static ge::graphStatus Tile(gert::TilingContext* context)
{
    Reduce256TilingData tiling;
    const gert::RuntimeAttrs* attrs = context->GetAttrs();
    tiling.set_kind(*attrs->GetInt(0));
    tiling.set_times(*attrs->GetInt(1));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(1);
    context->SetTilingKey(0);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

struct Reduce256CompileInfo {};
static ge::graphStatus Prepare(gert::TilingParseContext*) { return ge::GRAPH_SUCCESS; }
IMPL_OP_OPTILING(Reduce256).Tiling(Tile).TilingParse<Reduce256CompileInfo>(Prepare);
}  // namespace optiling

namespace ops {
static ge::graphStatus InferShape(gert::InferShapeContext* context)
{
    gert::Shape* shape = context->GetOutputShape(0);
    shape->SetDimNum(1);
    shape->SetDim(0, 1);
    return ge::GRAPH_SUCCESS;
}

class Reduce256 : public OpDef {
public:
    explicit Reduce256(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Attr("kind").AttrType(REQUIRED).Int();
        this->Attr("times").AttrType(REQUIRED).Int();
        this->SetInferShape(InferShape);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(Reduce256);
}  // namespace ops
