// Elementwise kernels of a training step, on as many cores as the published run gave them.
// The tiling key is what is computed; it stands in the kernel.
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(ElementwiseInModelTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, total);
  TILING_DATA_FIELD_DEF(uint32_t, share);
  TILING_DATA_FIELD_DEF(uint32_t, tile);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ElementwiseInModel, ElementwiseInModelTilingData)

constexpr uint32_t BLOCK = 8;         // elements of 32 bytes
constexpr uint32_t MOST_TILE = 4096;  // elements

static ge::graphStatus Tile(gert::TilingContext* context)
{
    ElementwiseInModelTilingData tiling;
    const uint32_t total = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    const uint32_t cores = *context->GetAttrs()->GetInt(1);
    const uint32_t share = ((total + cores - 1) / cores + BLOCK - 1) / BLOCK * BLOCK;
    tiling.set_total(total);
    tiling.set_share(share);
    tiling.set_tile(share < MOST_TILE ? share : MOST_TILE);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(cores);
    context->SetTilingKey(*context->GetAttrs()->GetInt(0));
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

struct ElementwiseInModelCompileInfo {};
static ge::graphStatus Prepare(gert::TilingParseContext*) { return ge::GRAPH_SUCCESS; }
IMPL_OP_OPTILING(ElementwiseInModel)
    .Tiling(Tile)
    .TilingParse<ElementwiseInModelCompileInfo>(Prepare);
}  // namespace optiling

namespace ops {
static ge::graphStatus InferShape(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return ge::GRAPH_SUCCESS;
}

class ElementwiseInModel : public OpDef {
public:
    explicit ElementwiseInModel(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("factor").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Attr("kind").AttrType(REQUIRED).Int();
        this->Attr("cores").AttrType(REQUIRED).Int();
        this->SetInferShape(InferShape);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(ElementwiseInModel);
}  // namespace ops
