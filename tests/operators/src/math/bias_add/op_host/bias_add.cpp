#include "bias_add_tiling.h"
#include <algorithm>
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
namespace {
constexpr int64_t COLUMN_TILE = 4096;
constexpr int64_t ALIGN = 64;
}

static ge::graphStatus BiasAddTiling(gert::TilingContext* context)
{
    const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    const auto& xShape = context->GetInputShape(0)->GetStorageShape();
    const auto& biasShape = context->GetInputShape(1)->GetStorageShape();
    const int64_t columns = biasShape.GetShapeSize();
    if (columns == 0 || xShape.GetShapeSize() % columns != 0) {
        return ge::GRAPH_FAILED;
    }
    const int64_t rows = xShape.GetShapeSize() / columns;
    const int64_t cores = platform.GetCoreNumAiv();
    const int64_t rowsPerCore = (rows + cores - 1) / cores;

    BiasAddTilingData tiling;
    tiling.set_rows(rows);
    tiling.set_columns(columns);
    tiling.set_rowsPerCore(rowsPerCore);
    tiling.set_columnTile(std::min(COLUMN_TILE, (columns + ALIGN - 1) / ALIGN * ALIGN));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim((rows + rowsPerCore - 1) / rowsPerCore);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus BiasAddInferShape(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class BiasAdd : public OpDef {
public:
    explicit BiasAdd(const char* name) : OpDef(name)
    {
        const std::vector<ge::DataType> types = {ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_INT32};
        const std::vector<ge::Format> formats = {ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND};
        this->Input("x").ParamType(REQUIRED).DataType(types).Format(formats);
        this->Input("bias").ParamType(REQUIRED).DataType(types).Format(formats);
        this->Output("y").ParamType(REQUIRED).DataType(types).Format(formats);
        this->SetInferShape(ge::BiasAddInferShape);
        this->AICore().SetTiling(optiling::BiasAddTiling);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(BiasAdd);
}  // namespace ops
