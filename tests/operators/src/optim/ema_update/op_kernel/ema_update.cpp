// Exponential moving average; the pipes are ordered by events.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t CHUNK = 1024;   // elements

class EmaUpdate {
public:
    __aicore__ inline void Init(GM_ADDR average, GM_ADDR x, GM_ADDR y, const EmaUpdateTilingData* tiling)
    {
        uint32_t first = tiling->perCore * GetBlockIdx();
        this->count = tiling->total - first < tiling->perCore ? tiling->total - first
                                                              : tiling->perCore;
        this->decay = tiling->decay;
        this->rest = tiling->rest;
        averageGm.SetGlobalBuffer((__gm__ float*)average + first, this->count);
        xGm.SetGlobalBuffer((__gm__ float*)x + first, this->count);
        yGm.SetGlobalBuffer((__gm__ float*)y + first, this->count);
        pipe.InitBuffer(averageBuf, CHUNK * sizeof(float));
        pipe.InitBuffer(xBuf, CHUNK * sizeof(float));
        pipe.InitBuffer(yBuf, CHUNK * sizeof(float));
    }

    // The order of the pipes is stated by events; there are no queues.
    __aicore__ inline void Process()
    {
        LocalTensor<float> averageLocal = averageBuf.Get<float>();
        LocalTensor<float> xLocal = xBuf.Get<float>();
        LocalTensor<float> yLocal = yBuf.Get<float>();
        for (uint32_t done = 0; done < this->count; done += CHUNK) {
            uint32_t length = this->count - done < CHUNK ? this->count - done : CHUNK;
            DataCopy(averageLocal, averageGm[done], length);
            DataCopy(xLocal, xGm[done], length);
            event_t loaded = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE2_V));
            SetFlag<HardEvent::MTE2_V>(loaded);
            WaitFlag<HardEvent::MTE2_V>(loaded);
            Muls(yLocal, averageLocal, this->decay, length);
            Axpy(yLocal, xLocal, this->rest, length);
            event_t computed = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_MTE3));
            SetFlag<HardEvent::V_MTE3>(computed);
            WaitFlag<HardEvent::V_MTE3>(computed);
            DataCopy(yGm[done], yLocal, length);
            event_t stored = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE3_V));
            SetFlag<HardEvent::MTE3_V>(stored);
            WaitFlag<HardEvent::MTE3_V>(stored);
            event_t free = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_MTE2));
            SetFlag<HardEvent::V_MTE2>(free);
            WaitFlag<HardEvent::V_MTE2>(free);
        }
    }

private:
    TPipe pipe;
    TBuf<QuePosition::VECCALC> averageBuf, xBuf, yBuf;
    GlobalTensor<float> averageGm;
    GlobalTensor<float> xGm;
    GlobalTensor<float> yGm;
    float decay, rest;
    uint32_t count;
};

extern "C" __global__ __aicore__ void ema_update(GM_ADDR average, GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    EmaUpdate op;
    op.Init(average, x, y, &tilingData);
    op.Process();
}
