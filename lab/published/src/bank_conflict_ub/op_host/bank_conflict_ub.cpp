// A thousand additions of float within the unified buffer, at addresses that the case chooses.
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(BankConflictUbTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, first);
  TILING_DATA_FIELD_DEF(uint32_t, second);
  TILING_DATA_FIELD_DEF(uint32_t, result);
  TILING_DATA_FIELD_DEF(uint32_t, blockStride);
  TILING_DATA_FIELD_DEF(uint32_t, repeatStride);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(BankConflictUb, BankConflictUbTilingData)

static ge::graphStatus Tile(gert::TilingContext* context)
{
    BankConflictUbTilingData tiling;
    const gert::RuntimeAttrs* attrs = context->GetAttrs();
    tiling.set_first(*attrs->GetInt(0));
    tiling.set_second(*attrs->GetInt(1));
    tiling.set_result(*attrs->GetInt(2));
    tiling.set_blockStride(*attrs->GetInt(3));
    tiling.set_repeatStride(*attrs->GetInt(4));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(1);
    context->SetTilingKey(0);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

struct BankConflictUbCompileInfo {};
static ge::graphStatus Prepare(gert::TilingParseContext*) { return ge::GRAPH_SUCCESS; }
IMPL_OP_OPTILING(BankConflictUb).Tiling(Tile).TilingParse<BankConflictUbCompileInfo>(Prepare);
}  // namespace optiling

namespace ops {
static ge::graphStatus InferShape(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return ge::GRAPH_SUCCESS;
}

class BankConflictUb : public OpDef {
public:
    explicit BankConflictUb(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Attr("first").AttrType(REQUIRED).Int();
        this->Attr("second").AttrType(REQUIRED).Int();
        this->Attr("result").AttrType(REQUIRED).Int();
        this->Attr("block_stride").AttrType(REQUIRED).Int();
        this->Attr("repeat_stride").AttrType(REQUIRED).Int();
        this->SetInferShape(InferShape);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(BankConflictUb);
}  // namespace ops
