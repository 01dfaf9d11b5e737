// A matrix product on 24 cube cores, in the two versions that asc-devkit's
// matmul_basic_api_high_performance publishes figures of. The tiling key is the version: all of C in
// one round, or in two, so that what the cores read at a time stays in L2.
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(MatmulBasicApiTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, m);
  TILING_DATA_FIELD_DEF(uint32_t, n);
  TILING_DATA_FIELD_DEF(uint32_t, k);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(MatmulBasicApi, MatmulBasicApiTilingData)

constexpr uint32_t CUBE_CORES = 24;  // of a 910B1

static ge::graphStatus Tile(gert::TilingContext* context)
{
    MatmulBasicApiTilingData tiling;
    tiling.set_m(context->GetInputShape(0)->GetStorageShape().GetDim(0));
    tiling.set_k(context->GetInputShape(0)->GetStorageShape().GetDim(1));
    tiling.set_n(context->GetInputShape(1)->GetStorageShape().GetDim(0));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(CUBE_CORES);
    context->SetTilingKey(*context->GetAttrs()->GetInt(0));
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

struct MatmulBasicApiCompileInfo {};
static ge::graphStatus Prepare(gert::TilingParseContext*) { return ge::GRAPH_SUCCESS; }
IMPL_OP_OPTILING(MatmulBasicApi).Tiling(Tile).TilingParse<MatmulBasicApiCompileInfo>(Prepare);
}  // namespace optiling

namespace ops {
static ge::graphStatus InferShape(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = gert::Shape(
        {context->GetInputShape(0)->GetDim(0), context->GetInputShape(1)->GetDim(0)});
    return ge::GRAPH_SUCCESS;
}

class MatmulBasicApi : public OpDef {
public:
    explicit MatmulBasicApi(const char* name) : OpDef(name)
    {
        this->Input("a").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("b").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("c").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Attr("version").AttrType(REQUIRED).Int();
        this->SetInferShape(InferShape);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(MatmulBasicApi);
}  // namespace ops
