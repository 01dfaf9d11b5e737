// z = x + y, the plainest stream through the machine: two copies in, one instruction, one out.
#include "kernel_operator.h"

constexpr int32_t DEPTH = 2;

class KernelStreamAdd {
public:
    __aicore__ inline KernelStreamAdd() {}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, const StreamAddTilingData& tiling)
    {
        const int64_t begin = tiling.perCore * AscendC::GetBlockIdx();
        length = tiling.total - begin < tiling.perCore ? tiling.total - begin : tiling.perCore;
        tile = tiling.tile;
        xGm.SetGlobalBuffer((__gm__ DTYPE_X*)x + begin, length);
        yGm.SetGlobalBuffer((__gm__ DTYPE_X*)y + begin, length);
        zGm.SetGlobalBuffer((__gm__ DTYPE_X*)z + begin, length);
        pipe.InitBuffer(xQueue, DEPTH, tile * sizeof(DTYPE_X));
        pipe.InitBuffer(yQueue, DEPTH, tile * sizeof(DTYPE_X));
        pipe.InitBuffer(zQueue, DEPTH, tile * sizeof(DTYPE_X));
    }
    __aicore__ inline void Process()
    {
        for (int64_t at = 0; at < length; at += tile) {
            const uint32_t count = length - at < tile ? length - at : tile;
            CopyIn(at, count);
            Compute(count);
            CopyOut(at, count);
        }
    }

private:
    __aicore__ inline void CopyIn(int64_t at, uint32_t count)
    {
        const AscendC::DataCopyExtParams burst = {1, count * (uint32_t)sizeof(DTYPE_X), 0, 0, 0};
        const AscendC::DataCopyPadExtParams<DTYPE_X> pad = {false, 0, 0, 0};
        AscendC::LocalTensor<DTYPE_X> x = xQueue.AllocTensor<DTYPE_X>();
        AscendC::DataCopyPad(x, xGm[at], burst, pad);
        xQueue.EnQue(x);
        AscendC::LocalTensor<DTYPE_X> y = yQueue.AllocTensor<DTYPE_X>();
        AscendC::DataCopyPad(y, yGm[at], burst, pad);
        yQueue.EnQue(y);
    }
    __aicore__ inline void Compute(uint32_t count)
    {
        AscendC::LocalTensor<DTYPE_X> x = xQueue.DeQue<DTYPE_X>();
        AscendC::LocalTensor<DTYPE_X> y = yQueue.DeQue<DTYPE_X>();
        AscendC::LocalTensor<DTYPE_X> z = zQueue.AllocTensor<DTYPE_X>();
        AscendC::Add(z, x, y, count);
        zQueue.EnQue(z);
        xQueue.FreeTensor(x);
        yQueue.FreeTensor(y);
    }
    __aicore__ inline void CopyOut(int64_t at, uint32_t count)
    {
        const AscendC::DataCopyExtParams burst = {1, count * (uint32_t)sizeof(DTYPE_X), 0, 0, 0};
        AscendC::LocalTensor<DTYPE_X> z = zQueue.DeQue<DTYPE_X>();
        AscendC::DataCopyPad(zGm[at], z, burst);
        zQueue.FreeTensor(z);
    }

    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, DEPTH> xQueue, yQueue;
    AscendC::TQue<AscendC::TPosition::VECOUT, DEPTH> zQueue;
    AscendC::GlobalTensor<DTYPE_X> xGm, yGm, zGm;
    int64_t length;
    int64_t tile;
};

extern "C" __global__ __aicore__ void stream_add(GM_ADDR x, GM_ADDR y, GM_ADDR z,
                                                 GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    KernelStreamAdd op;
    op.Init(x, y, z, tilingData);
    op.Process();
}
