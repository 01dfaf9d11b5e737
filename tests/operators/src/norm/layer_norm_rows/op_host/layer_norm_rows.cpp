#include "layer_norm_rows_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace {
constexpr uint32_t kBlockElements = 16;
constexpr uint32_t kMaxRowLength = 5120;   // ten float rows in 192 KiB, with room for statistics
}

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext* context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint32_t coreNum = platform.GetCoreNumAiv();
    auto xShape = context->GetInputShape(0)->GetStorageShape();
    uint32_t rowLength = context->GetInputShape(1)->GetStorageShape().GetShapeSize();
    if (rowLength == 0 || rowLength > kMaxRowLength) {
        return ge::GRAPH_FAILED;
    }
    uint32_t rowNum = xShape.GetShapeSize() / rowLength;
    uint32_t blockDim = rowNum < coreNum ? rowNum : coreNum;
    uint32_t tailRows = rowNum / blockDim;
    uint32_t formerCoreNum = rowNum % blockDim;

    LayerNormRowsTilingData tiling;
    tiling.set_rowNum(rowNum);
    tiling.set_rowLength(rowLength);
    tiling.set_rowLengthAlign((rowLength + kBlockElements - 1) / kBlockElements * kBlockElements);
    tiling.set_formerCoreNum(formerCoreNum);
    tiling.set_formerRows(tailRows + 1);
    tiling.set_tailRows(tailRows);
    tiling.set_epsilon(*context->GetAttrs()->GetFloat(0));
    context->SetBlockDim(blockDim);

    uint64_t key = 0;
    switch (context->GetInputDesc(0)->GetDataType()) {
        case ge::DT_FLOAT: key = 10; break;
        case ge::DT_FLOAT16: key = 20; break;
        case ge::DT_BF16: key = 30; break;
        default: return ge::GRAPH_FAILED;
    }
    context->SetTilingKey(key);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    size_t* workspaces = context->GetWorkspaceSizes(1);
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus InferShape(gert::InferShapeContext* context)
{
    const gert::Shape* x = context->GetInputShape(0);
    const gert::Shape* gamma = context->GetInputShape(1);
    *context->GetOutputShape(0) = *x;
    for (size_t output = 1; output <= 2; output++) {
        gert::Shape* statistic = context->GetOutputShape(output);
        size_t outer = x->GetDimNum() - gamma->GetDimNum();
        statistic->SetDimNum(outer);
        for (size_t i = 0; i < outer; i++) {
            statistic->SetDim(i, x->GetDim(i));
        }
    }
    return GRAPH_SUCCESS;
}

static graphStatus InferDataType(gert::InferDataTypeContext* context)
{
    context->SetOutputDataType(0, context->GetInputDataType(0));
    context->SetOutputDataType(1, ge::DT_FLOAT);
    context->SetOutputDataType(2, ge::DT_FLOAT);
    return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class LayerNormRows : public OpDef {
public:
    explicit LayerNormRows(const char* name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("gamma")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("beta")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("mean")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("rstd")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("epsilon").AttrType(OPTIONAL).Float(1e-5);
        this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(LayerNormRows);
}  // namespace ops
