// float to half with the rounding that the caller chose.
#include "kernel_operator.h"

using namespace AscendC;

template <RoundMode ROUND>
class KernelCastHalf {
public:
    __aicore__ inline KernelCastHalf() {}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const CastHalfTilingData& tiling)
    {
        uint32_t index = GetBlockIdx();
        uint32_t start = tiling.tailLength * index;
        start += (index < tiling.formerNum ? index : tiling.formerNum) *
                 (tiling.formerLength - tiling.tailLength);
        coreLength = index < tiling.formerNum ? tiling.formerLength : tiling.tailLength;
        if (start + coreLength > tiling.totalLength) {
            coreLength = tiling.totalLength - start;
        }
        tileLength = tiling.tileLength;
        xGm.SetGlobalBuffer((__gm__ float*)x + start, coreLength);
        yGm.SetGlobalBuffer((__gm__ half*)y + start, coreLength);
        pipe.InitBuffer(inQueue, 1, tileLength * sizeof(float));
        pipe.InitBuffer(outQueue, 1, tileLength * sizeof(half));
    }
    __aicore__ inline void Process()
    {
        uint32_t loops = coreLength / tileLength;
        for (uint32_t i = 0; i < loops; i++) {
            CopyIn(i * tileLength, tileLength);
            Compute(tileLength);
            CopyOut(i * tileLength, tileLength);
        }
        uint32_t rest = coreLength % tileLength;
        if (rest != 0) {
            CopyIn(loops * tileLength, rest);
            Compute(rest);
            CopyOut(loops * tileLength, rest);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t offset, uint32_t count)
    {
        LocalTensor<float> xLocal = inQueue.AllocTensor<float>();
        if (count * sizeof(float) % 32 == 0) {
            DataCopy(xLocal, xGm[offset], count);
        } else {
            DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
            DataCopyPadExtParams<float> pad{false, 0, 0, 0};
            DataCopyPad(xLocal, xGm[offset], params, pad);
        }
        inQueue.EnQue(xLocal);
    }
    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<float> xLocal = inQueue.DeQue<float>();
        LocalTensor<half> yLocal = outQueue.AllocTensor<half>();
        Cast(yLocal, xLocal, ROUND, count);
        outQueue.EnQue(yLocal);
        inQueue.FreeTensor(xLocal);
    }
    __aicore__ inline void CopyOut(uint32_t offset, uint32_t count)
    {
        LocalTensor<half> yLocal = outQueue.DeQue<half>();
        if (count * sizeof(half) % 32 == 0) {
            DataCopy(yGm[offset], yLocal, count);
        } else {
            DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(half)), 0, 0, 0};
            DataCopyPad(yGm[offset], yLocal, params);
        }
        outQueue.FreeTensor(yLocal);
    }

private:
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> inQueue;
    TQue<QuePosition::VECOUT, 1> outQueue;
    GlobalTensor<float> xGm;
    GlobalTensor<half> yGm;
    uint32_t coreLength = 0;
    uint32_t tileLength = 0;
};

template <RoundMode ROUND>
__aicore__ inline void Run(GM_ADDR x, GM_ADDR y, const CastHalfTilingData& tilingData)
{
    KernelCastHalf<ROUND> op;
    op.Init(x, y, tilingData);
    op.Process();
}

extern "C" __global__ __aicore__ void cast_half(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    if (TILING_KEY_IS(1)) {
        Run<RoundMode::CAST_RINT>(x, y, tilingData);
    } else if (TILING_KEY_IS(2)) {
        Run<RoundMode::CAST_FLOOR>(x, y, tilingData);
    } else if (TILING_KEY_IS(3)) {
        Run<RoundMode::CAST_CEIL>(x, y, tilingData);
    } else if (TILING_KEY_IS(4)) {
        Run<RoundMode::CAST_TRUNC>(x, y, tilingData);
    } else if (TILING_KEY_IS(5)) {
        Run<RoundMode::CAST_ROUND>(x, y, tilingData);
    }
}
