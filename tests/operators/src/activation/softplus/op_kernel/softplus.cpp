// ln(1 + exp(x)).
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;
constexpr uint32_t TILE = 512;   // elements

class Softplus {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SoftplusTilingData* tiling)
    {
        uint32_t first = tiling->perCore * GetBlockIdx();
        this->count = tiling->total - first < tiling->perCore ? tiling->total - first
                                                              : tiling->perCore;
        xGm.SetGlobalBuffer((__gm__ float*)x + first, this->count);
        yGm.SetGlobalBuffer((__gm__ float*)y + first, this->count);
        pipe.InitBuffer(xQueue, BUFFER_NUM, TILE * sizeof(float));
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
    }

    __aicore__ inline void Compute(uint32_t length)
    {
        LocalTensor<float> xLocal = xQueue.DeQue<float>();
        LocalTensor<float> yLocal = yQueue.AllocTensor<float>();
        Exp(yLocal, xLocal, length);
        Adds(yLocal, yLocal, 1.0f, length);
        Ln(yLocal, yLocal, length);
        yQueue.EnQue(yLocal);
        xQueue.FreeTensor(xLocal);
    }

    __aicore__ inline void CopyOut(uint32_t done, uint32_t length)
    {
        LocalTensor<float> yLocal = yQueue.DeQue<float>();
        DataCopy(yGm[done], yLocal, length);
        yQueue.FreeTensor(yLocal);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFER_NUM> xQueue;
    TQue<QuePosition::VECOUT, BUFFER_NUM> yQueue;
    GlobalTensor<float> xGm;
    GlobalTensor<float> yGm;
    uint32_t count;
};

extern "C" __global__ __aicore__ void softplus(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    Softplus op;
    op.Init(x, y, &tilingData);
    op.Process();
}
