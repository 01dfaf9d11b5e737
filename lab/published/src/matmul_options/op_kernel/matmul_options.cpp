// A product by the Matmul API on cube cores alone, with one option off and on:
//   0, 1  the next blocks of B come early (doMTE2Preload)
//   2, 3  one base block a copy into L1 (the plain template), several (MDL)
//   4, 5  the tiling read from memory, known to the compiler
//   6, 7  the fixpipe waits for a product, follows it by unit flags
//   8, 9  a long k on one core, split over two
//  10, 11 cores that share operands begin at one part of k, at different ones
#include "kernel_operator.h"
#define ASCENDC_CUBE_ONLY
#include "lib/matmul_intf.h"

using AscendC::TPosition;

namespace {

using Operand = AscendC::MatmulType<TPosition::GM, CubeFormat::ND, half>;
using Result = AscendC::MatmulType<TPosition::GM, CubeFormat::ND, float>;

constexpr MatmulConfig WithUnitFlag()
{
    MatmulConfig config = CFG_MDL;
    config.enUnitFlag = true;
    return config;
}
constexpr MatmulConfig PRELOADED = GetMDLConfig(false, false, 2);
constexpr MatmulConfig FOLLOWED = WithUnitFlag();
constexpr MatmulConfig WithOtherBeginnings()
{
    MatmulConfig config = CFG_MDL;
    config.enableKdimReorderLoad = true;
    return config;
}
constexpr MatmulConfig APART = WithOtherBeginnings();
constexpr MatmulShapeParams SHAPE = {128, 1280, 64, 128, 256, 64};
constexpr MatmulConfig SHAPED = GetMMConfig<MatmulConfigMode::CONFIG_MDL>(SHAPE);
constexpr auto CONSTANT = AscendC::GetMatmulApiTiling<Operand, Operand, Result, Result>(SHAPED);

// What a core works on.
struct Part {
    int32_t M, N, K, singleCoreM, singleCoreN, singleCoreK;
};

template <typename M>
__aicore__ inline void Run(M& product, GM_ADDR a, GM_ADDR b, GM_ADDR c, const Part& tiling)
{
    const uint32_t partsN = tiling.N / tiling.singleCoreN;
    const uint32_t partN = AscendC::GetBlockIdx() % partsN;
    const uint32_t partsK = tiling.K / tiling.singleCoreK;
    const uint32_t partK = AscendC::GetBlockIdx() / partsN % partsK;
    const uint32_t partM = AscendC::GetBlockIdx() / partsN / partsK;
    AscendC::GlobalTensor<half> aGlobal;
    AscendC::GlobalTensor<half> bGlobal;
    AscendC::GlobalTensor<float> cGlobal;
    aGlobal.SetGlobalBuffer((__gm__ half*)a, tiling.M * tiling.K);
    bGlobal.SetGlobalBuffer((__gm__ half*)b, tiling.K * tiling.N);
    cGlobal.SetGlobalBuffer((__gm__ float*)c, tiling.M * tiling.N);
    product.SetTensorA(
        aGlobal[partM * tiling.singleCoreM * tiling.K + partK * tiling.singleCoreK]);
    product.SetTensorB(bGlobal[partK * tiling.singleCoreK * tiling.N + partN * tiling.singleCoreN]);
    product.IterateAll(
        cGlobal[partM * tiling.singleCoreM * tiling.N + partN * tiling.singleCoreN],
        tiling.singleCoreK < tiling.K);
    product.End();
}

// The scalar unit copies the tiling, word by word.
template <const auto& CONFIG>
__aicore__ inline void Multiply(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR from)
{
    TCubeTiling tiling;
    auto to = reinterpret_cast<uint32_t*>(&tiling);
    for (uint32_t i = 0; i < sizeof(TCubeTiling) / sizeof(uint32_t); i++) {
        to[i] = reinterpret_cast<__gm__ uint32_t*>(from)[i];
    }
    AscendC::TPipe pipe;
    AscendC::Matmul<Operand, Operand, Result, Result, CONFIG> product;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), product, &tiling);
    Run(product, a, b, c,
        {tiling.M, tiling.N, tiling.Ka, tiling.singleCoreM, tiling.singleCoreN,
         tiling.singleCoreK});
}

// The compiler knows the tiling.
__aicore__ inline void MultiplyConstant(GM_ADDR a, GM_ADDR b, GM_ADDR c)
{
    constexpr Part PART = {128, 30720, 64, 128, 1280, 64};
    AscendC::TPipe pipe;
    AscendC::Matmul<Operand, Operand, Result, Result, CONSTANT> product;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), product, (TCubeTiling*)nullptr);
    product.SetOrgShape(PART.M, PART.N, PART.K);
    product.SetSingleShape(PART.M, PART.singleCoreN, PART.singleCoreK);
    Run(product, a, b, c, PART);
}

}  // namespace

extern "C" __global__ __aicore__ void matmul_options(GM_ADDR a, GM_ADDR b, GM_ADDR c,
                                                     GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    if (TILING_KEY_IS(0) || TILING_KEY_IS(3) || TILING_KEY_IS(4) || TILING_KEY_IS(6) ||
        TILING_KEY_IS(10)) {
        Multiply<CFG_MDL>(a, b, c, tiling);
    } else if (TILING_KEY_IS(1)) {
        Multiply<PRELOADED>(a, b, c, tiling);
    } else if (TILING_KEY_IS(2) || TILING_KEY_IS(8) || TILING_KEY_IS(9)) {
        Multiply<CFG_NORM>(a, b, c, tiling);
    } else if (TILING_KEY_IS(5)) {
        MultiplyConstant(a, b, c);
    } else if (TILING_KEY_IS(7)) {
        Multiply<FOLLOWED>(a, b, c, tiling);
    } else if (TILING_KEY_IS(11)) {
        Multiply<APART>(a, b, c, tiling);
    }
}
