// y = 2 * x + 1, with every flag set by hand: built without automatic synchronisation.
#include "kernel_operator.h"
using namespace AscendC;

class ScaleShift {
public:
    __aicore__ inline ScaleShift() {}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t coreLength, uint32_t tileLength)
    {
        coreLength_ = coreLength;
        tileLength_ = tileLength;
        xGm_.SetGlobalBuffer((__gm__ float *)x + coreLength * GetBlockIdx(), coreLength);
        yGm_.SetGlobalBuffer((__gm__ float *)y + coreLength * GetBlockIdx(), coreLength);
        pipe_.InitBuffer(inBuffer_, tileLength * sizeof(float));
        pipe_.InitBuffer(outBuffer_, tileLength * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        LocalTensor<float> in = inBuffer_.Get<float>();
        LocalTensor<float> out = outBuffer_.Get<float>();
        for (uint32_t offset = 0; offset < coreLength_; offset += tileLength_) {
            DataCopy(in, xGm_[offset], tileLength_);
            SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
            WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
            Muls(out, in, 2.0f, tileLength_);
            PipeBarrier<PIPE_V>();
            Adds(out, out, 1.0f, tileLength_);
            SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
            WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
            DataCopy(yGm_[offset], out, tileLength_);
            SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
            WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        }
    }

private:
    TPipe pipe_;
    TBuf<TPosition::VECCALC> inBuffer_;
    TBuf<TPosition::VECCALC> outBuffer_;
    GlobalTensor<float> xGm_;
    GlobalTensor<float> yGm_;
    uint32_t coreLength_;
    uint32_t tileLength_;
};

extern "C" __global__ __aicore__ void scale_shift(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                  GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    ScaleShift op;
    op.Init(x, y, data.coreLength, data.tileLength);
    op.Process();
}
