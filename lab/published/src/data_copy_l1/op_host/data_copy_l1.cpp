// Reads a matrix of half into L1, in the seven versions that asc-devkit's
// data_copy publishes figures of. The tiling key is the version; what it does stands in the kernel.
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(DataCopyL1TilingData)
  TILING_DATA_FIELD_DEF(uint32_t, rows);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(DataCopyL1, DataCopyL1TilingData)

constexpr uint32_t ALL_CORES = 24;  // cube cores of a 910B1

static ge::graphStatus Tile(gert::TilingContext* context)
{
    DataCopyL1TilingData tiling;
    tiling.set_rows(context->GetInputShape(0)->GetStorageShape().GetDim(0));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(ALL_CORES);
    context->SetTilingKey(*context->GetAttrs()->GetInt(0));
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

struct DataCopyL1CompileInfo {};
static ge::graphStatus Prepare(gert::TilingParseContext*) { return ge::GRAPH_SUCCESS; }
IMPL_OP_OPTILING(DataCopyL1).Tiling(Tile).TilingParse<DataCopyL1CompileInfo>(Prepare);
}  // namespace optiling

namespace ops {
constexpr int64_t SHOWN = 16;  // elements of each core's last tile that are written back

static ge::graphStatus InferShape(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = gert::Shape({optiling::ALL_CORES, SHOWN});
    return ge::GRAPH_SUCCESS;
}

class DataCopyL1 : public OpDef {
public:
    explicit DataCopyL1(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("last").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Attr("version").AttrType(REQUIRED).Int();
        this->SetInferShape(InferShape);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(DataCopyL1);
}  // namespace ops
