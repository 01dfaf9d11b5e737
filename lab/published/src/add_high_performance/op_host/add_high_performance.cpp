// z = x + y over half, in the seven versions that asc-devkit's add_high_performance publishes
// figures of. The tiling key is the version; what a version does stands in the kernel.
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(AddHighPerformanceTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, rows);
  TILING_DATA_FIELD_DEF(uint32_t, columns);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(AddHighPerformance, AddHighPerformanceTilingData)

constexpr int64_t FIRST_ON_ALL_CORES = 2;
constexpr uint32_t ALL_CORES = 48;  // vector cores of a 910B1

static ge::graphStatus Tile(gert::TilingContext* context)
{
    AddHighPerformanceTilingData tiling;
    const auto& shape = context->GetInputShape(0)->GetStorageShape();
    const int64_t version = *context->GetAttrs()->GetInt(0);
    tiling.set_rows(shape.GetDim(0));
    tiling.set_columns(shape.GetDim(1));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(version < FIRST_ON_ALL_CORES ? 1 : ALL_CORES);
    context->SetTilingKey(version);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

struct AddHighPerformanceCompileInfo {};
static ge::graphStatus Prepare(gert::TilingParseContext*) { return ge::GRAPH_SUCCESS; }
IMPL_OP_OPTILING(AddHighPerformance)
    .Tiling(Tile)
    .TilingParse<AddHighPerformanceCompileInfo>(Prepare);
}  // namespace optiling

namespace ops {
static ge::graphStatus InferShape(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return ge::GRAPH_SUCCESS;
}

class AddHighPerformance : public OpDef {
public:
    explicit AddHighPerformance(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Attr("version").AttrType(REQUIRED).Int();
        this->SetInferShape(InferShape);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(AddHighPerformance);
}  // namespace ops
