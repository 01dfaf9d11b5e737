// y = silu(gate) * up, the gate of a SwiGLU feed-forward layer.
#include <type_traits>
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = 1;

template <typename T>
class KernelSiluGate {
    // half and bfloat16 go through float
    static constexpr bool NEED_CAST = !std::is_same<T, float>::value;

public:
    __aicore__ inline KernelSiluGate() {}

    __aicore__ inline void Init(GM_ADDR gate, GM_ADDR up, GM_ADDR y, uint64_t totalLength,
                                uint64_t coreLength, uint32_t tileLength, TPipe* pipe)
    {
        uint64_t start = coreLength * GetBlockIdx();
        uint64_t left = totalLength - start;
        this->length = left < coreLength ? left : coreLength;
        this->tileLength = tileLength;

        gateGm.SetGlobalBuffer((__gm__ T*)gate + start, this->length);
        upGm.SetGlobalBuffer((__gm__ T*)up + start, this->length);
        yGm.SetGlobalBuffer((__gm__ T*)y + start, this->length);

        pipe->InitBuffer(gateQueue, BUFFER_NUM, tileLength * sizeof(T));
        pipe->InitBuffer(upQueue, BUFFER_NUM, tileLength * sizeof(T));
        pipe->InitBuffer(yQueue, BUFFER_NUM, tileLength * sizeof(T));
        pipe->InitBuffer(sigmoidBuf, tileLength * sizeof(float));
        if constexpr (NEED_CAST) {
            pipe->InitBuffer(gateBuf, tileLength * sizeof(float));
            pipe->InitBuffer(upBuf, tileLength * sizeof(float));
        }
    }

    __aicore__ inline void Process()
    {
        for (uint64_t offset = 0; offset < this->length; offset += this->tileLength) {
            uint64_t left = this->length - offset;
            uint32_t count = left < this->tileLength ? left : this->tileLength;
            CopyIn(offset, count);
            Compute(count);
            CopyOut(offset, count);
        }
    }

private:
    __aicore__ inline void CopyIn(uint64_t offset, uint32_t count)
    {
        LocalTensor<T> gateLocal = gateQueue.AllocTensor<T>();
        LocalTensor<T> upLocal = upQueue.AllocTensor<T>();
        DataCopyExtParams copyParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> padParams{false, 0, 0, 0};
        DataCopyPad(gateLocal, gateGm[offset], copyParams, padParams);
        DataCopyPad(upLocal, upGm[offset], copyParams, padParams);
        gateQueue.EnQue(gateLocal);
        upQueue.EnQue(upLocal);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<T> gateLocal = gateQueue.DeQue<T>();
        LocalTensor<T> upLocal = upQueue.DeQue<T>();
        LocalTensor<T> yLocal = yQueue.AllocTensor<T>();
        if constexpr (NEED_CAST) {
            LocalTensor<float> gateFloat = gateBuf.Get<float>();
            LocalTensor<float> upFloat = upBuf.Get<float>();
            Cast(gateFloat, gateLocal, RoundMode::CAST_NONE, count);
            Cast(upFloat, upLocal, RoundMode::CAST_NONE, count);
            SiluMul(gateFloat, gateFloat, upFloat, count);
            Cast(yLocal, gateFloat, RoundMode::CAST_RINT, count);
        } else {
            SiluMul(yLocal, gateLocal, upLocal, count);
        }
        yQueue.EnQue(yLocal);
        gateQueue.FreeTensor(gateLocal);
        upQueue.FreeTensor(upLocal);
    }

    // dst = gate / (1 + exp(-gate)) * up
    __aicore__ inline void SiluMul(const LocalTensor<float>& dst, const LocalTensor<float>& gate,
                                   const LocalTensor<float>& up, uint32_t count)
    {
        LocalTensor<float> sigmoid = sigmoidBuf.Get<float>();
        Muls(sigmoid, gate, -1.0f, count);
        Exp(sigmoid, sigmoid, count);
        Adds(sigmoid, sigmoid, 1.0f, count);
        Div(sigmoid, gate, sigmoid, count);
        Mul(dst, sigmoid, up, count);
    }

    __aicore__ inline void CopyOut(uint64_t offset, uint32_t count)
    {
        LocalTensor<T> yLocal = yQueue.DeQue<T>();
        DataCopyExtParams copyParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPad(yGm[offset], yLocal, copyParams);
        yQueue.FreeTensor(yLocal);
    }

private:
    TQue<QuePosition::VECIN, BUFFER_NUM> gateQueue;
    TQue<QuePosition::VECIN, BUFFER_NUM> upQueue;
    TQue<QuePosition::VECOUT, BUFFER_NUM> yQueue;
    TBuf<QuePosition::VECCALC> sigmoidBuf;
    TBuf<QuePosition::VECCALC> gateBuf;
    TBuf<QuePosition::VECCALC> upBuf;
    GlobalTensor<T> gateGm;
    GlobalTensor<T> upGm;
    GlobalTensor<T> yGm;
    uint64_t length = 0;
    uint32_t tileLength = 0;
};

extern "C" __global__ __aicore__ void silu_gate(GM_ADDR gate, GM_ADDR up, GM_ADDR y,
                                                GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    if (TILING_KEY_IS(1)) {
        KernelSiluGate<DTYPE_GATE> op;
        op.Init(gate, up, y, tilingData.totalLength, tilingData.coreLength, tilingData.tileLength,
                &pipe);
        op.Process();
    }
}
