#include "masked_fill_value_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
const uint64_t UNIT = 256;        // elements: a whole repeat of half and of float compares
const uint64_t BYTES_PER_ELEMENT_FLOAT = 2 * (4 + 1 + 4) + 2 + 1;
const uint64_t BYTES_PER_ELEMENT_HALF = 2 * (2 + 1 + 2) + 2 + 1;

static ge::graphStatus MaskedFillValueTiling(gert::TilingContext* context)
{
    MaskedFillValueTilingData tiling;
    uint64_t ubSize = 0;
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubSize);
    uint64_t coreNum = platform.GetCoreNumAiv();
    bool isFloat = context->GetInputDesc(0)->GetDataType() == ge::DT_FLOAT;
    uint64_t length = context->GetInputShape(0)->GetStorageShape().GetShapeSize();

    uint64_t perElement = isFloat ? BYTES_PER_ELEMENT_FLOAT : BYTES_PER_ELEMENT_HALF;
    uint64_t tileLength = ubSize / 2 / perElement / UNIT * UNIT;
    uint64_t units = (length + UNIT - 1) / UNIT;
    if (coreNum > units) {
        coreNum = units;
    }
    uint64_t smallUnits = units / coreNum;
    uint64_t bigNum = units % coreNum;

    tiling.set_length(length);
    tiling.set_bigLength((smallUnits + 1) * UNIT);
    tiling.set_smallLength(smallUnits * UNIT);
    tiling.set_bigNum(bigNum);
    tiling.set_tileLength(tileLength);
    tiling.set_value(*context->GetAttrs()->GetFloat(0));

    context->SetBlockDim(coreNum);
    context->SetTilingKey(0);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    size_t* currentWorkspace = context->GetWorkspaceSizes(1);
    currentWorkspace[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static ge::graphStatus InferShape(gert::InferShapeContext* context)
{
    const gert::Shape* x_shape = context->GetInputShape(0);
    gert::Shape* y_shape = context->GetOutputShape(0);
    *y_shape = *x_shape;
    return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class MaskedFillValue : public OpDef {
public:
    explicit MaskedFillValue(const char* name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("mask")
            .ParamType(REQUIRED)
            .DataType({ge::DT_UINT8, ge::DT_UINT8})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("value").Float();
        this->SetInferShape(ge::InferShape);
        this->AICore().SetTiling(optiling::MaskedFillValueTiling);
        this->AICore().AddConfig("ascend910b").AddConfig("ascend910");
    }
};
OP_ADD(MaskedFillValue);
}  // namespace ops
