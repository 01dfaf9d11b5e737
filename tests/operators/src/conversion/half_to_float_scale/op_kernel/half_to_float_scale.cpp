// fp16 to fp32 with a scale.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;
constexpr uint32_t TILE = 1024;   // elements

class HalfToFloatScale {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const HalfToFloatScaleTilingData* tiling)
    {
        uint32_t first = tiling->perCore * GetBlockIdx();
        this->count = tiling->total - first < tiling->perCore ? tiling->total - first
                                                              : tiling->perCore;
        this->scale = tiling->scale;
        xGm.SetGlobalBuffer((__gm__ half*)x + first, this->count);
        yGm.SetGlobalBuffer((__gm__ float*)y + first, this->count);
        pipe.InitBuffer(xQueue, BUFFER_NUM, TILE * sizeof(half));
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
        LocalTensor<half> xLocal = xQueue.AllocTensor<half>();
        DataCopy(xLocal, xGm[done], length);
        xQueue.EnQue(xLocal);
    }

    __aicore__ inline void Compute(uint32_t length)
    {
        LocalTensor<half> xLocal = xQueue.DeQue<half>();
        LocalTensor<float> yLocal = yQueue.AllocTensor<float>();
        Cast(yLocal, xLocal, RoundMode::CAST_NONE, length);
        Muls(yLocal, yLocal, this->scale, length);
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
    GlobalTensor<half> xGm;
    GlobalTensor<float> yGm;
    float scale;
    uint32_t count;
};

extern "C" __global__ __aicore__ void half_to_float_scale(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    HalfToFloatScale op;
    op.Init(x, y, &tilingData);
    op.Process();
}
