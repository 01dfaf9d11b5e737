// A cubic polynomial by Horner; the pipes are ordered by events.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t CHUNK = 2048;   // elements

class CubicPolynomial {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const CubicPolynomialTilingData* tiling)
    {
        uint32_t first = tiling->perCore * GetBlockIdx();
        this->count = tiling->total - first < tiling->perCore ? tiling->total - first
                                                              : tiling->perCore;
        this->c0 = tiling->c0;
        this->c1 = tiling->c1;
        this->c2 = tiling->c2;
        this->c3 = tiling->c3;
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
            Muls(yLocal, xLocal, this->c3, length);
            Adds(yLocal, yLocal, this->c2, length);
            Mul(yLocal, yLocal, xLocal, length);
            Adds(yLocal, yLocal, this->c1, length);
            Mul(yLocal, yLocal, xLocal, length);
            Adds(yLocal, yLocal, this->c0, length);
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
    float c0, c1, c2, c3;
    uint32_t count;
};

extern "C" __global__ __aicore__ void cubic_polynomial(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    CubicPolynomial op;
    op.Init(x, y, &tilingData);
    op.Process();
}
