#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;
using namespace matmul;

constexpr uint32_t BLOCK_FLOATS = 8;

// C = relu(A * B + bias) * scale: the cube core multiplies block by block, the vector core that asked
// for it does the rest in UB.
class MatmulReluScale {
public:
    __aicore__ inline MatmulReluScale() {}
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR scale, GM_ADDR c,
                                const MatmulReluScaleTilingData& t, TPipe* pipe)
    {
        cube = t.cube;
        uint32_t index = GetBlockIdx();
        startM = index % t.coresM * cube.singleCoreM;
        startN = index / t.coresM * cube.singleCoreN;
        active = startN < static_cast<uint32_t>(cube.N);
        if (!active) {
            return;
        }
        sizeM = Min(cube.M - startM, cube.singleCoreM);
        sizeN = Min(cube.N - startN, cube.singleCoreN);
        aGm.SetGlobalBuffer((__gm__ half*)a + static_cast<uint64_t>(startM) * cube.Ka);
        bGm.SetGlobalBuffer((__gm__ half*)b + startN);
        biasGm.SetGlobalBuffer((__gm__ float*)bias + startN);
        scaleGm.SetGlobalBuffer((__gm__ float*)scale + startN);
        cGm.SetGlobalBuffer((__gm__ float*)c + static_cast<uint64_t>(startM) * cube.N + startN);
        pipe->InitBuffer(scaleQueue, 1, cube.baseN * sizeof(float));
        pipe->InitBuffer(resultQueue, 1, cube.baseM * cube.baseN * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        if (!active) {
            return;
        }
        mm.SetTail(sizeM, sizeN, cube.singleCoreK);
        mm.SetTensorA(aGm);
        mm.SetTensorB(bGm);
        mm.SetBias(biasGm);
        uint32_t across = (sizeM + cube.baseM - 1) / cube.baseM;
        for (uint32_t number = 0; mm.Iterate(); number++) {
            uint32_t m = number % across * cube.baseM;
            uint32_t n = number / across * cube.baseN;
            Finish(m, n, Min(sizeM - m, cube.baseM), Min(sizeN - n, cube.baseN));
        }
        mm.End();
    }

    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, half>, MatmulType<TPosition::GM, CubeFormat::ND, half>,
           MatmulType<TPosition::VECIN, CubeFormat::ND, float>, MatmulType<TPosition::GM, CubeFormat::ND, float>>
        mm;

private:
    __aicore__ inline uint32_t Min(uint32_t a, uint32_t b) { return a < b ? a : b; }

    __aicore__ inline void Finish(uint32_t m, uint32_t n, uint32_t rows, uint32_t columns)
    {
        LocalTensor<float> scale = scaleQueue.AllocTensor<float>();
        DataCopyExtParams row{1, static_cast<uint32_t>(columns * sizeof(float)), 0, 0, 0};
        DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
        DataCopyPad(scale, scaleGm[n], row, pad);
        scaleQueue.EnQue(scale);
        scale = scaleQueue.DeQue<float>();
        LocalTensor<float> result = resultQueue.AllocTensor<float>();
        mm.GetTensorC(result, false, true);
        uint32_t stride = (columns + BLOCK_FLOATS - 1) / BLOCK_FLOATS * BLOCK_FLOATS;
        Relu(result, result, rows * stride);
        for (uint32_t r = 0; r < rows; r++) {
            Mul(result[r * stride], result[r * stride], scale, columns);
        }
        scaleQueue.FreeTensor(scale);
        resultQueue.EnQue(result);
        result = resultQueue.DeQue<float>();
        DataCopyExtParams out{static_cast<uint16_t>(rows), static_cast<uint32_t>(columns * sizeof(float)), 0,
                              static_cast<uint32_t>((cube.N - columns) * sizeof(float)), 0};
        DataCopyPad(cGm[static_cast<uint64_t>(m) * cube.N + n], result, out);
        resultQueue.FreeTensor(result);
    }

    TCubeTiling cube;
    GlobalTensor<half> aGm;
    GlobalTensor<half> bGm;
    GlobalTensor<float> biasGm;
    GlobalTensor<float> scaleGm;
    GlobalTensor<float> cGm;
    TQue<QuePosition::VECIN, 1> scaleQueue;
    TQue<QuePosition::VECOUT, 1> resultQueue;
    uint32_t startM = 0;
    uint32_t startN = 0;
    uint32_t sizeM = 0;
    uint32_t sizeN = 0;
    bool active = false;
};

extern "C" __global__ __aicore__ void matmul_relu_scale(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR scale,
                                                        GM_ADDR c, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    if (TILING_KEY_IS(1)) {
        MatmulReluScale op;
        REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), op.mm, &tilingData.cube);
        op.Init(a, b, bias, scale, c, tilingData, &pipe);
        op.Process();
    }
}
