// fp32 clamped and rounded to fp16.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;
constexpr uint32_t TILE = 1024;   // elements

class FloatToHalfClamp {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const FloatToHalfClampTilingData* tiling)
    {
        uint32_t first = tiling->perCore * GetBlockIdx();
        this->count = tiling->total - first < tiling->perCore ? tiling->total - first
                                                              : tiling->perCore;
        this->limit = tiling->limit;
        xGm.SetGlobalBuffer((__gm__ float*)x + first, this->count);
        yGm.SetGlobalBuffer((__gm__ half*)y + first, this->count);
        pipe.InitBuffer(xQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(yQueue, BUFFER_NUM, TILE * sizeof(half));
        pipe.InitBuffer(clampedBuf, TILE * sizeof(float));
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
        LocalTensor<half> yLocal = yQueue.AllocTensor<half>();
        LocalTensor<float> clamped = clampedBuf.Get<float>();
        Mins(clamped, xLocal, this->limit, length);
        Maxs(clamped, clamped, -this->limit, length);
        Cast(yLocal, clamped, RoundMode::CAST_RINT, length);
        yQueue.EnQue(yLocal);
        xQueue.FreeTensor(xLocal);
    }

    __aicore__ inline void CopyOut(uint32_t done, uint32_t length)
    {
        LocalTensor<half> yLocal = yQueue.DeQue<half>();
        DataCopy(yGm[done], yLocal, length);
        yQueue.FreeTensor(yLocal);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFER_NUM> xQueue;
    TQue<QuePosition::VECOUT, BUFFER_NUM> yQueue;
    TBuf<QuePosition::VECCALC> clampedBuf;
    GlobalTensor<float> xGm;
    GlobalTensor<half> yGm;
    float limit;
    uint32_t count;
};

extern "C" __global__ __aicore__ void float_to_half_clamp(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    FloatToHalfClamp op;
    op.Init(x, y, &tilingData);
    op.Process();
}
