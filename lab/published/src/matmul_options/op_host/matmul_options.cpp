// c = a · b of half, the sums in float, in the versions that asc-devkit's guide to the Matmul API
// publishes figures of. The tiling key is the version; the tilings are the published ones.
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/tiling_api.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(MatmulOptionsTilingData)
  TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, cube);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(MatmulOptions, MatmulOptionsTilingData)

// Of one version: on how many cores along n, k and m, the base block, steps along k and depths in L1.
struct Shape {
    int32_t coresN, coresK, coresM, baseM, baseN, baseK, step, depthA, depthB;
};
constexpr Shape LOADED = {24, 1, 1, 128, 128, 64, 8, 8, 16};
constexpr Shape LARGE = {24, 1, 1, 128, 256, 64, 4, 8, 8};
constexpr Shape FEWER = {20, 1, 1, 128, 256, 64, 4, 8, 8};
constexpr Shape ALONE = {1, 1, 1, 16, 16, 1024, 1, 1, 1};
constexpr Shape TWO = {1, 2, 1, 16, 16, 512, 1, 1, 1};
constexpr Shape SHARED = {4, 1, 6, 128, 256, 64, 4, 8, 8};
constexpr Shape SHAPES[] = {LOADED, LOADED, LARGE, LARGE, LARGE,  LARGE,
                            FEWER,  FEWER,  ALONE, TWO,   SHARED, SHARED};

static ge::graphStatus Tile(gert::TilingContext* context)
{
    MatmulOptionsTilingData tiling;
    const auto& a = context->GetInputShape(0)->GetStorageShape();
    const auto& b = context->GetInputShape(1)->GetStorageShape();
    const int64_t version = *context->GetAttrs()->GetInt(0);
    const Shape& shape = SHAPES[version];
    const int32_t m = a.GetDim(0);
    const int32_t k = a.GetDim(1);
    const int32_t n = b.GetDim(1);
    auto& cube = tiling.cube;
    cube.set_usedCoreNum(shape.coresN * shape.coresK * shape.coresM);
    cube.set_M(m);
    cube.set_N(n);
    cube.set_Ka(k);
    cube.set_Kb(k);
    cube.set_singleCoreM(m / shape.coresM);
    cube.set_singleCoreN(n / shape.coresN);
    cube.set_singleCoreK(k / shape.coresK);
    cube.set_baseM(shape.baseM);
    cube.set_baseN(shape.baseN);
    cube.set_baseK(shape.baseK);
    cube.set_depthA1(shape.depthA);
    cube.set_depthB1(shape.depthB);
    cube.set_stepM(1);
    cube.set_stepN(1);
    cube.set_stepKa(shape.step);
    cube.set_stepKb(shape.step);
    cube.set_isBias(0);
    cube.set_transLength(0);
    cube.set_iterateOrder(0);
    cube.set_shareMode(0);
    cube.set_shareL1Size((shape.depthA * shape.baseM + shape.depthB * shape.baseN) * shape.baseK *
                         2);
    cube.set_shareL0CSize(shape.baseM * shape.baseN * 4);
    cube.set_shareUbSize(0);
    cube.set_batchM(1);
    cube.set_batchN(1);
    cube.set_singleBatchM(1);
    cube.set_singleBatchN(1);
    cube.set_dbL0A(shape.baseM * shape.baseK * 4 <= 65536 ? 2 : 1);
    cube.set_dbL0B(shape.baseN * shape.baseK * 4 <= 65536 ? 2 : 1);
    cube.set_dbL0C(1);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(shape.coresN * shape.coresK * shape.coresM);
    context->SetTilingKey(version);
    context->GetWorkspaceSizes(1)[0] = 16 * 1024 * 1024;
    return ge::GRAPH_SUCCESS;
}

struct MatmulOptionsCompileInfo {};
static ge::graphStatus Prepare(gert::TilingParseContext*) { return ge::GRAPH_SUCCESS; }
IMPL_OP_OPTILING(MatmulOptions).Tiling(Tile).TilingParse<MatmulOptionsCompileInfo>(Prepare);
}  // namespace optiling

namespace ops {
static ge::graphStatus InferShape(gert::InferShapeContext* context)
{
    auto c = context->GetOutputShape(0);
    c->SetDimNum(2);
    c->SetDim(0, context->GetInputShape(0)->GetDim(0));
    c->SetDim(1, context->GetInputShape(1)->GetDim(1));
    return ge::GRAPH_SUCCESS;
}

class MatmulOptions : public OpDef {
public:
    explicit MatmulOptions(const char* name) : OpDef(name)
    {
        this->Input("a").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("b").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("c").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Attr("version").AttrType(REQUIRED).Int();
        this->SetInferShape(InferShape);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(MatmulOptions);
}  // namespace ops
