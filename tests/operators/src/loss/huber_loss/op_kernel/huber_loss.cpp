// Huber loss without reduction.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;
constexpr uint32_t TILE = 1024;   // elements

class HuberLoss {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR target, GM_ADDR y, const HuberLossTilingData* tiling)
    {
        uint32_t first = tiling->perCore * GetBlockIdx();
        this->count = tiling->total - first < tiling->perCore ? tiling->total - first
                                                              : tiling->perCore;
        this->delta = tiling->delta;
        xGm.SetGlobalBuffer((__gm__ float*)x + first, this->count);
        targetGm.SetGlobalBuffer((__gm__ float*)target + first, this->count);
        yGm.SetGlobalBuffer((__gm__ float*)y + first, this->count);
        pipe.InitBuffer(xQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(targetQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(yQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(gapBuf, TILE * sizeof(float));
        pipe.InitBuffer(cappedBuf, TILE * sizeof(float));
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
        LocalTensor<float> targetLocal = targetQueue.AllocTensor<float>();
        DataCopy(targetLocal, targetGm[done], length);
        targetQueue.EnQue(targetLocal);
    }

    __aicore__ inline void Compute(uint32_t length)
    {
        LocalTensor<float> xLocal = xQueue.DeQue<float>();
        LocalTensor<float> targetLocal = targetQueue.DeQue<float>();
        LocalTensor<float> yLocal = yQueue.AllocTensor<float>();
        LocalTensor<float> gap = gapBuf.Get<float>();
        LocalTensor<float> capped = cappedBuf.Get<float>();
        Sub(gap, xLocal, targetLocal, length);
        Abs(gap, gap, length);
        Mins(capped, gap, this->delta, length);
        Muls(yLocal, capped, -0.5f, length);
        Add(yLocal, yLocal, gap, length);
        Mul(yLocal, yLocal, capped, length);
        yQueue.EnQue(yLocal);
        xQueue.FreeTensor(xLocal);
        targetQueue.FreeTensor(targetLocal);
    }

    __aicore__ inline void CopyOut(uint32_t done, uint32_t length)
    {
        LocalTensor<float> yLocal = yQueue.DeQue<float>();
        DataCopy(yGm[done], yLocal, length);
        yQueue.FreeTensor(yLocal);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFER_NUM> xQueue, targetQueue;
    TQue<QuePosition::VECOUT, BUFFER_NUM> yQueue;
    TBuf<QuePosition::VECCALC> gapBuf, cappedBuf;
    GlobalTensor<float> xGm;
    GlobalTensor<float> targetGm;
    GlobalTensor<float> yGm;
    float delta;
    uint32_t count;
};

extern "C" __global__ __aicore__ void huber_loss(GM_ADDR x, GM_ADDR target, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    HuberLoss op;
    op.Init(x, target, y, &tilingData);
    op.Process();
}
