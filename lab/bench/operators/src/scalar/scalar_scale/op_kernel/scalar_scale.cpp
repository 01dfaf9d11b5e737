// y = 2 * x + 1, one element after the other on the scalar unit: what a kernel should not do, and
// what the machine must get through all the same.
#include "kernel_operator.h"

class KernelScalarScale {
public:
    __aicore__ inline KernelScalarScale() {}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const ScalarScaleTilingData& tiling)
    {
        const int64_t begin = tiling.perCore * AscendC::GetBlockIdx();
        length = tiling.total - begin < tiling.perCore ? tiling.total - begin : tiling.perCore;
        tile = tiling.tile;
        xGm.SetGlobalBuffer((__gm__ float*)x + begin, length);
        yGm.SetGlobalBuffer((__gm__ float*)y + begin, length);
    }
    __aicore__ inline void InGlobalMemory()
    {
        for (int64_t i = 0; i < length; i++) {
            yGm.SetValue(i, xGm.GetValue(i) * 2.0f + 1.0f);
        }
        AscendC::DataCacheCleanAndInvalid<float, AscendC::CacheLine::ENTIRE_DATA_CACHE>(yGm);
    }
    __aicore__ inline void ThroughUnifiedBuffer()
    {
        pipe.InitBuffer(xQueue, 2, tile * sizeof(float));
        pipe.InitBuffer(yQueue, 2, tile * sizeof(float));
        for (int64_t at = 0; at < length; at += tile) {
            const uint32_t count = length - at < tile ? length - at : tile;
            const AscendC::DataCopyExtParams burst = {1, count * (uint32_t)sizeof(float), 0, 0, 0};
            const AscendC::DataCopyPadExtParams<float> pad = {false, 0, 0, 0};
            AscendC::LocalTensor<float> x = xQueue.AllocTensor<float>();
            AscendC::DataCopyPad(x, xGm[at], burst, pad);
            xQueue.EnQue(x);
            x = xQueue.DeQue<float>();
            AscendC::LocalTensor<float> y = yQueue.AllocTensor<float>();
            AscendC::TEventID loaded = GetTPipePtr()->FetchEventID(AscendC::HardEvent::MTE2_S);
            AscendC::SetFlag<AscendC::HardEvent::MTE2_S>(loaded);
            AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(loaded);
            AscendC::TEventID free = GetTPipePtr()->FetchEventID(AscendC::HardEvent::MTE3_S);
            AscendC::SetFlag<AscendC::HardEvent::MTE3_S>(free);
            AscendC::WaitFlag<AscendC::HardEvent::MTE3_S>(free);
            for (uint32_t i = 0; i < count; i++) {
                y.SetValue(i, x.GetValue(i) * 2.0f + 1.0f);
            }
            AscendC::TEventID done = GetTPipePtr()->FetchEventID(AscendC::HardEvent::S_MTE3);
            AscendC::SetFlag<AscendC::HardEvent::S_MTE3>(done);
            AscendC::WaitFlag<AscendC::HardEvent::S_MTE3>(done);
            AscendC::TEventID read = GetTPipePtr()->FetchEventID(AscendC::HardEvent::S_MTE2);
            AscendC::SetFlag<AscendC::HardEvent::S_MTE2>(read);
            AscendC::WaitFlag<AscendC::HardEvent::S_MTE2>(read);
            yQueue.EnQue(y);
            y = yQueue.DeQue<float>();
            AscendC::DataCopyPad(yGm[at], y, burst);
            xQueue.FreeTensor(x);
            yQueue.FreeTensor(y);
        }
    }

private:
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> xQueue;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> yQueue;
    AscendC::GlobalTensor<float> xGm, yGm;
    int64_t length;
    int64_t tile;
};

extern "C" __global__ __aicore__ void scalar_scale(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                   GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    KernelScalarScale op;
    op.Init(x, y, tilingData);
    if (TILING_KEY_IS(1)) {
        op.ThroughUnifiedBuffer();
    } else {
        op.InGlobalMemory();
    }
}
