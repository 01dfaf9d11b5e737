#include "rms_norm_rows_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static constexpr uint32_t FLOAT_BYTES = 4;
static constexpr uint32_t HALF_BLOCK = 16;      // half elements in a 32-byte block
static constexpr uint32_t RESERVED_BYTES = 1024;

template <typename T>
static T CeilDiv(T value, T divisor)
{
    return divisor == 0 ? value : (value + divisor - 1) / divisor;
}

static ge::graphStatus RmsNormRowsTiling(gert::TilingContext* context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint32_t coreNum = platform.GetCoreNumAiv();
    uint64_t ubSize = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubSize);

    const gert::Shape xShape = context->GetInputShape(0)->GetStorageShape();
    size_t dimNum = xShape.GetDimNum();
    if (dimNum == 0 || coreNum == 0) {
        return ge::GRAPH_FAILED;
    }
    uint32_t columns = xShape.GetDim(dimNum - 1);
    uint32_t rows = 1;
    for (size_t i = 0; i + 1 < dimNum; i++) {
        rows *= xShape.GetDim(i);
    }
    uint32_t columnsAlign = CeilDiv(columns, HALF_BLOCK) * HALF_BLOCK;

    // x, y and gamma of one row, the row in float and its square must fit at once
    uint64_t need = static_cast<uint64_t>(columnsAlign) * FLOAT_BYTES * 6 + RESERVED_BYTES;
    if (need > ubSize) {
        return ge::GRAPH_FAILED;
    }

    uint32_t rowsPerCore = CeilDiv(rows, coreNum);
    const float* epsilon = context->GetAttrs()->GetAttrPointer<float>(0);

    RmsNormRowsTilingData tiling;
    tiling.set_rows(rows);
    tiling.set_columns(columns);
    tiling.set_columnsAlign(columnsAlign);
    tiling.set_rowsPerCore(rowsPerCore);
    tiling.set_epsilon(epsilon == nullptr ? 1e-6f : *epsilon);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(CeilDiv(rows, rowsPerCore));
    context->SetTilingKey(1);
    context->GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize();
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus RmsNormRowsInferShape(gert::InferShapeContext* context)
{
    const gert::Shape* xShape = context->GetInputShape(0);
    gert::Shape* yShape = context->GetOutputShape(0);
    *yShape = *xShape;
    return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class RmsNormRows : public OpDef {
public:
    explicit RmsNormRows(const char* name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_BF16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("gamma")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_BF16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("epsilon").AttrType(OPTIONAL).Float(1e-6);
        this->SetInferShape(ge::RmsNormRowsInferShape);
        this->AICore().SetTiling(optiling::RmsNormRowsTiling);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(RmsNormRows);
}  // namespace ops
