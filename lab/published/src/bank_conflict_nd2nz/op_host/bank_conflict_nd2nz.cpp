// Rearranges a matrix of half from rows to columns of 32-byte blocks in the unified buffer, in the two
// versions that asc-devkit's bank_conflict_nd2nz publishes figures of. The tiling key is the version.
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(BankConflictNd2nzTilingData)
  TILING_DATA_FIELD_DEF(uint32_t, rows);
  TILING_DATA_FIELD_DEF(uint32_t, columns);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(BankConflictNd2nz, BankConflictNd2nzTilingData)

constexpr uint32_t CORES = 48;  // eight shares of the columns by six of the rows

static ge::graphStatus Tile(gert::TilingContext* context)
{
    BankConflictNd2nzTilingData tiling;
    tiling.set_rows(context->GetInputShape(0)->GetStorageShape().GetDim(0));
    tiling.set_columns(context->GetInputShape(0)->GetStorageShape().GetDim(1));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(CORES);
    context->SetTilingKey(*context->GetAttrs()->GetInt(0));
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

struct BankConflictNd2nzCompileInfo {};
static ge::graphStatus Prepare(gert::TilingParseContext*) { return ge::GRAPH_SUCCESS; }
IMPL_OP_OPTILING(BankConflictNd2nz).Tiling(Tile).TilingParse<BankConflictNd2nzCompileInfo>(Prepare);
}  // namespace optiling

namespace ops {
constexpr int64_t C0 = 16;  // elements of a block of 32 bytes

static ge::graphStatus InferShape(gert::InferShapeContext* context)
{
    const int64_t rows = context->GetInputShape(0)->GetDim(0);
    const int64_t columns = context->GetInputShape(0)->GetDim(1);
    *context->GetOutputShape(0) = gert::Shape({columns / C0, rows, C0});
    return ge::GRAPH_SUCCESS;
}

class BankConflictNd2nz : public OpDef {
public:
    explicit BankConflictNd2nz(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Attr("version").AttrType(REQUIRED).Int();
        this->SetInferShape(InferShape);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(BankConflictNd2nz);
}  // namespace ops
