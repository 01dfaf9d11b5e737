// Leaky relu of x + shift.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;
constexpr uint32_t TILE = 1024;   // elements

class LeakyReluShift {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const LeakyReluShiftTilingData* tiling)
    {
        uint32_t first = tiling->perCore * GetBlockIdx();
        this->count = tiling->total - first < tiling->perCore ? tiling->total - first
                                                              : tiling->perCore;
        this->shift = tiling->shift;
        xGm.SetGlobalBuffer((__gm__ float*)x + first, this->count);
        yGm.SetGlobalBuffer((__gm__ float*)y + first, this->count);
        pipe.InitBuffer(xQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(yQueue, BUFFER_NUM, TILE * sizeof(float));
        pipe.InitBuffer(shiftedBuf, TILE * sizeof(float));
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
        LocalTensor<float> shifted = shiftedBuf.Get<float>();
        Adds(shifted, xLocal, this->shift, length);
        xQueue.FreeTensor(xLocal);
        LeakyRelu(yLocal, shifted, 0.1f, length);
        yQueue.EnQue(yLocal);
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
    TBuf<QuePosition::VECCALC> shiftedBuf;
    GlobalTensor<float> xGm;
    GlobalTensor<float> yGm;
    float shift;
    uint32_t count;
};

extern "C" __global__ __aicore__ void leaky_relu_shift(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    LeakyReluShift op;
    op.Init(x, y, &tilingData);
    op.Process();
}
