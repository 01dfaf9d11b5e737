// A copy through the unified buffer; the pipes are ordered by events.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t CHUNK = 4096;   // elements

class ChunkCopy {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const ChunkCopyTilingData* tiling)
    {
        uint32_t first = tiling->perCore * GetBlockIdx();
        this->count = tiling->total - first < tiling->perCore ? tiling->total - first
                                                              : tiling->perCore;
        xGm.SetGlobalBuffer((__gm__ float*)x + first, this->count);
        yGm.SetGlobalBuffer((__gm__ float*)y + first, this->count);
        pipe.InitBuffer(xBuf, CHUNK * sizeof(float));
        pipe.InitBuffer(yBuf, CHUNK * sizeof(float));
    }

    // The order of the pipes is stated by events; there are no queues.
    __aicore__ inline void Process()
    {
        LocalTensor<float> xLocal = xBuf.Get<float>();
        LocalTensor<float> yLocal = yBuf.Get<float>();
        for (uint32_t done = 0; done < this->count; done += CHUNK) {
            uint32_t length = this->count - done < CHUNK ? this->count - done : CHUNK;
            DataCopy(xLocal, xGm[done], length);
            event_t loaded = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE2_V));
            SetFlag<HardEvent::MTE2_V>(loaded);
            WaitFlag<HardEvent::MTE2_V>(loaded);
            Muls(yLocal, xLocal, 1.0f, length);
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
    TBuf<QuePosition::VECCALC> xBuf, yBuf;
    GlobalTensor<float> xGm;
    GlobalTensor<float> yGm;
    uint32_t count;
};

extern "C" __global__ __aicore__ void chunk_copy(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    ChunkCopy op;
    op.Init(x, y, &tilingData);
    op.Process();
}
