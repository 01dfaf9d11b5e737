#include <algorithm>

#include "matmul_relu_scale_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

using namespace matmul_tiling;

namespace optiling {
constexpr int32_t BASE_M = 128;
constexpr int32_t BASE_N = 128;

static ge::graphStatus MatmulReluScaleTilingFunc(gert::TilingContext* context)
{
    MatmulReluScaleTilingData tiling;
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    auto shapeA = context->GetInputShape(0)->GetStorageShape();
    auto shapeB = context->GetInputShape(1)->GetStorageShape();
    int32_t m = shapeA.GetDim(0);
    int32_t k = shapeA.GetDim(1);
    int32_t n = shapeB.GetDim(1);
    // Each vector core posts products of its own: two of them share a cube core.
    int32_t cores = platform.GetCoreNumAiv();
    MultiCoreMatmulTiling cube(platform);
    cube.SetDim(cores);
    cube.SetAType(TPosition::GM, CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
    cube.SetBType(TPosition::GM, CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
    cube.SetCType(TPosition::VECIN, CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT);
    cube.SetBiasType(TPosition::GM, CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT);
    cube.SetBias(true);
    cube.SetShape(m, n, k);
    cube.SetOrgShape(m, n, k);
    cube.SetFixSplit(BASE_M, BASE_N, -1);
    cube.SetBufferSpace(-1, -1, -1);
    if (cube.GetTiling(tiling.cube) == -1) {
        return ge::GRAPH_FAILED;
    }
    int32_t coresM = (m + tiling.cube.get_singleCoreM() - 1) / tiling.cube.get_singleCoreM();
    int32_t coresN = (n + tiling.cube.get_singleCoreN() - 1) / tiling.cube.get_singleCoreN();
    tiling.set_coresM(coresM);
    context->SetBlockDim((coresM * coresN + 1) / 2);
    context->SetTilingKey(1);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    size_t* currentWorkspace = context->GetWorkspaceSizes(1);
    currentWorkspace[0] = platform.GetLibApiWorkSpaceSize();
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static ge::graphStatus MatmulReluScaleInferShape(gert::InferShapeContext* context)
{
    auto shape = context->GetOutputShape(0);
    shape->SetDimNum(2);
    shape->SetDim(0, context->GetInputShape(0)->GetDim(0));
    shape->SetDim(1, context->GetInputShape(1)->GetDim(1));
    return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class MatmulReluScale : public OpDef {
public:
    explicit MatmulReluScale(const char* name) : OpDef(name)
    {
        this->Input("a").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("b").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("bias").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("scale").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("c").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->SetInferShape(ge::MatmulReluScaleInferShape);
        this->AICore().SetTiling(optiling::MatmulReluScaleTilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(MatmulReluScale);
}  // namespace ops
