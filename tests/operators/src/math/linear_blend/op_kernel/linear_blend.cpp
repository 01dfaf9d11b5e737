// x + weight * (z - x): a blend with a weight for each element.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;
constexpr uint32_t TILE = 1024;   // elements

class LinearBlend {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR z, GM_ADDR weight, GM_ADDR y, const LinearBlendTilingData* tiling)
    {
        uint32_t first = tiling->perCore * GetBlockIdx();
        this->count = tiling->total - first < tiling->perCore ? tiling->total - first
                                                              : tiling->perCore;
        xGm.SetGlobalBuffer((__gm__ float*)x + first, this->count);
        zGm.SetGlobalBuffer((__gm__ float*)z + first, this->count);
        weightGm.SetGlobalBuffer((__gm__ float*)weight + first, this->count);
        yGm.SetGlobalBuffer((__gm__ float*)y + first, this->count);
        pipe.InitBuffer(xQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(zQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(weightQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(yQueue, BUFFER_NUM, TILE * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        for (uint32_t done = 0; done < this->count; done += TILE) {
            uint32_t length = this->count - done < TILE ? this->count - done : TILE;
            CopyIn(done, length);
            Compute(length);
            CopyOut(done, length);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t done, uint32_t length)
    {
        LocalTensor<float> xLocal = xQueue.AllocTensor<float>();
        DataCopy(xLocal, xGm[done], length);
        xQueue.EnQue(xLocal);
        LocalTensor<float> zLocal = zQueue.AllocTensor<float>();
        DataCopy(zLocal, zGm[done], length);
        zQueue.EnQue(zLocal);
        LocalTensor<float> weightLocal = weightQueue.AllocTensor<float>();
        DataCopy(weightLocal, weightGm[done], length);
        weightQueue.EnQue(weightLocal);
    }

    __aicore__ inline void Compute(uint32_t length)
    {
        LocalTensor<float> xLocal = xQueue.DeQue<float>();
        LocalTensor<float> zLocal = zQueue.DeQue<float>();
        LocalTensor<float> weightLocal = weightQueue.DeQue<float>();
        LocalTensor<float> yLocal = yQueue.AllocTensor<float>();
        Sub(yLocal, zLocal, xLocal, length);
        Mul(yLocal, yLocal, weightLocal, length);
        Add(yLocal, yLocal, xLocal, length);
        yQueue.EnQue(yLocal);
        xQueue.FreeTensor(xLocal);
        zQueue.FreeTensor(zLocal);
        weightQueue.FreeTensor(weightLocal);
    }

    __aicore__ inline void CopyOut(uint32_t done, uint32_t length)
    {
        LocalTensor<float> yLocal = yQueue.DeQue<float>();
        DataCopy(yGm[done], yLocal, length);
        yQueue.FreeTensor(yLocal);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFER_NUM> xQueue, zQueue, weightQueue;
    TQue<QuePosition::VECOUT, BUFFER_NUM> yQueue;
    GlobalTensor<float> xGm;
    GlobalTensor<float> zGm;
    GlobalTensor<float> weightGm;
    GlobalTensor<float> yGm;
    uint32_t count;
};

extern "C" __global__ __aicore__ void linear_blend(GM_ADDR x, GM_ADDR z, GM_ADDR weight, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    LinearBlend op;
    op.Init(x, z, weight, y, &tilingData);
    op.Process();
}
