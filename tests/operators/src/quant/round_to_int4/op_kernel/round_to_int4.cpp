// x * scale, rounded to 4-bit integers, two of them in a byte.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;
constexpr uint32_t TILE = 2048;   // elements

class RoundToInt4 {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const RoundToInt4TilingData& tiling)
    {
        uint32_t first = tiling.perCore * GetBlockIdx();
        this->count = tiling.total - first < tiling.perCore ? tiling.total - first
                                                            : tiling.perCore;
        this->scale = static_cast<half>(tiling.scale);
        xGm.SetGlobalBuffer((__gm__ half*)x + first, this->count);
        yGm.SetGlobalBuffer((__gm__ int8_t*)y + first / 2, this->count / 2);
        pipe.InitBuffer(xQueue, BUFFER_NUM, TILE * sizeof(half));
        pipe.InitBuffer(yQueue, BUFFER_NUM, TILE / 2);
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
        LocalTensor<int8_t> yLocal = yQueue.AllocTensor<int8_t>();
        Muls(xLocal, xLocal, this->scale, length);
        PipeBarrier<PIPE_V>();
        Cast(yLocal.ReinterpretCast<int4b_t>(), xLocal, RoundMode::CAST_RINT, length);
        yQueue.EnQue(yLocal);
        xQueue.FreeTensor(xLocal);
    }

    __aicore__ inline void CopyOut(uint32_t done, uint32_t length)
    {
        LocalTensor<int8_t> yLocal = yQueue.DeQue<int8_t>();
        DataCopy(yGm[done / 2], yLocal, length / 2);
        yQueue.FreeTensor(yLocal);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFER_NUM> xQueue;
    TQue<QuePosition::VECOUT, BUFFER_NUM> yQueue;
    GlobalTensor<half> xGm;
    GlobalTensor<int8_t> yGm;
    uint32_t count;
    half scale;
};

extern "C" __global__ __aicore__ void round_to_int4(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                    GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    RoundToInt4 op;
    op.Init(x, y, data);
    op.Process();
}
