#include <algorithm>

#include "matmul_blocks_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
constexpr uint32_t BASE_M = 128;
constexpr uint32_t BASE_N = 256;
constexpr uint32_t BASE_K = 64;
constexpr uint32_t STEP_KA = 8;     // blocks of A that one copy brings into L1
constexpr uint32_t STEP_KB = 4;

static uint32_t CeilDiv(uint32_t value, uint32_t by)
{
    return (value + by - 1) / by;
}

static ge::graphStatus MatmulBlocksTilingFunc(gert::TilingContext* context)
{
    MatmulBlocksTilingData tiling;
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint32_t cores = platform.GetCoreNumAic();
    auto shapeA = context->GetInputShape(0)->GetStorageShape();
    auto shapeB = context->GetInputShape(1)->GetStorageShape();
    uint32_t m = shapeA.GetDim(0);
    uint32_t k = shapeA.GetDim(1);
    uint32_t n = shapeB.GetDim(0);

    // Split both sides over the cores in whole blocks: the split with the least work a core.
    uint32_t blocksM = CeilDiv(m, BASE_M);
    uint32_t blocksN = CeilDiv(n, BASE_N);
    uint32_t bestM = 1;
    uint32_t bestN = 1;
    uint32_t least = blocksM * blocksN;
    for (uint32_t splitM = 1; splitM <= std::min(cores, blocksM); splitM++) {
        uint32_t splitN = std::min(cores / splitM, blocksN);
        uint32_t work = CeilDiv(blocksM, splitM) * CeilDiv(blocksN, splitN);
        if (work < least) {
            least = work;
            bestM = splitM;
            bestN = splitN;
        }
    }
    uint32_t coreM = CeilDiv(blocksM, bestM) * BASE_M;
    uint32_t coreN = CeilDiv(blocksN, bestN) * BASE_N;
    tiling.set_m(m);
    tiling.set_n(n);
    tiling.set_k(k);
    tiling.set_baseM(BASE_M);
    tiling.set_baseN(BASE_N);
    tiling.set_baseK(BASE_K);
    tiling.set_stepKa(STEP_KA);
    tiling.set_stepKb(STEP_KB);
    tiling.set_coreM(coreM);
    tiling.set_coreN(coreN);
    context->SetBlockDim(CeilDiv(m, coreM) * CeilDiv(n, coreN));
    context->SetTilingKey(1);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    size_t* currentWorkspace = context->GetWorkspaceSizes(1);
    currentWorkspace[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static ge::graphStatus MatmulBlocksInferShape(gert::InferShapeContext* context)
{
    auto shape = context->GetOutputShape(0);
    shape->SetDimNum(2);
    shape->SetDim(0, context->GetInputShape(0)->GetDim(0));
    shape->SetDim(1, context->GetInputShape(1)->GetDim(0));
    return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class MatmulBlocks : public OpDef {
public:
    explicit MatmulBlocks(const char* name) : OpDef(name)
    {
        this->Input("a")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("b")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("c")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->SetInferShape(ge::MatmulBlocksInferShape);
        this->AICore().SetTiling(optiling::MatmulBlocksTilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(MatmulBlocks);
}  // namespace ops
