// y[r, c] = q[r, c] * scale[c] (+ bias[c]), int8 to half through float.
#include "kernel_operator.h"

using namespace AscendC;

template <bool HAS_BIAS>
class DequantChannelKernel {
public:
    __aicore__ inline DequantChannelKernel(TPipe* p) : pipe(p) {}

    __aicore__ inline void Init(GM_ADDR q, GM_ADDR scale, GM_ADDR bias, GM_ADDR y,
                                const DequantChannelTilingData& tiling)
    {
        channels = tiling.channels;
        tile = tiling.channelTile;
        uint64_t first = static_cast<uint64_t>(tiling.rowsPerCore) * GetBlockIdx();
        rows = tiling.rows - first < tiling.rowsPerCore ? tiling.rows - first : tiling.rowsPerCore;
        qGm.SetGlobalBuffer((__gm__ int8_t*)q + first * channels, static_cast<uint64_t>(rows) * channels);
        yGm.SetGlobalBuffer((__gm__ half*)y + first * channels, static_cast<uint64_t>(rows) * channels);
        scaleGm.SetGlobalBuffer((__gm__ float*)scale, channels);
        pipe->InitBuffer(qQueue, 2, tile * sizeof(int8_t));
        pipe->InitBuffer(yQueue, 2, tile * sizeof(half));
        pipe->InitBuffer(scaleQueue, 1, tile * sizeof(float));
        pipe->InitBuffer(halfBuf, tile * sizeof(half));
        pipe->InitBuffer(floatBuf, tile * sizeof(float));
        if constexpr (HAS_BIAS) {
            biasGm.SetGlobalBuffer((__gm__ float*)bias, channels);
            pipe->InitBuffer(biasQueue, 1, tile * sizeof(float));
        }
    }

    __aicore__ inline void Process()
    {
        for (uint32_t channel = 0; channel < channels; channel += tile) {
            uint32_t count = channels - channel < tile ? channels - channel : tile;
            LocalTensor<float> scale = LoadVector(scaleQueue, scaleGm, channel, count);
            LocalTensor<float> bias;
            if constexpr (HAS_BIAS) {
                bias = LoadVector(biasQueue, biasGm, channel, count);
            }
            for (uint32_t row = 0; row < rows; row++) {
                uint64_t offset = static_cast<uint64_t>(row) * channels + channel;
                CopyIn(offset, count);
                Compute(scale, bias, count);
                CopyOut(offset, count);
            }
            scaleQueue.FreeTensor(scale);
            if constexpr (HAS_BIAS) {
                biasQueue.FreeTensor(bias);
            }
        }
    }

private:
    __aicore__ inline LocalTensor<float> LoadVector(TQue<QuePosition::VECIN, 1>& queue,
                                                    const GlobalTensor<float>& gm, uint32_t offset,
                                                    uint32_t count)
    {
        LocalTensor<float> local = queue.AllocTensor<float>();
        DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
        DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
        DataCopyPad(local, gm[offset], params, pad);
        queue.EnQue(local);
        return queue.DeQue<float>();
    }

    __aicore__ inline void CopyIn(uint64_t offset, uint32_t count)
    {
        LocalTensor<int8_t> q = qQueue.AllocTensor<int8_t>();
        DataCopyExtParams params{1, count, 0, 0, 0};
        DataCopyPadExtParams<int8_t> pad{false, 0, 0, 0};
        DataCopyPad(q, qGm[offset], params, pad);
        qQueue.EnQue(q);
    }

    __aicore__ inline void Compute(const LocalTensor<float>& scale, const LocalTensor<float>& bias,
                                   uint32_t count)
    {
        LocalTensor<int8_t> q = qQueue.DeQue<int8_t>();
        LocalTensor<half> y = yQueue.AllocTensor<half>();
        LocalTensor<half> qHalf = halfBuf.Get<half>();
        LocalTensor<float> value = floatBuf.Get<float>();
        Cast(qHalf, q, RoundMode::CAST_NONE, count);
        PipeBarrier<PIPE_V>();
        Cast(value, qHalf, RoundMode::CAST_NONE, count);
        PipeBarrier<PIPE_V>();
        qQueue.FreeTensor(q);
        Mul(value, value, scale, count);
        PipeBarrier<PIPE_V>();
        if constexpr (HAS_BIAS) {
            Add(value, value, bias, count);
            PipeBarrier<PIPE_V>();
        }
        Cast(y, value, RoundMode::CAST_RINT, count);
        yQueue.EnQue(y);
    }

    __aicore__ inline void CopyOut(uint64_t offset, uint32_t count)
    {
        LocalTensor<half> y = yQueue.DeQue<half>();
        DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(half)), 0, 0, 0};
        DataCopyPad(yGm[offset], y, params);
        yQueue.FreeTensor(y);
    }

    TPipe* pipe;
    TQue<QuePosition::VECIN, 2> qQueue;
    TQue<QuePosition::VECIN, 1> scaleQueue;
    TQue<QuePosition::VECIN, 1> biasQueue;
    TQue<QuePosition::VECOUT, 2> yQueue;
    TBuf<TPosition::VECCALC> halfBuf;
    TBuf<TPosition::VECCALC> floatBuf;
    GlobalTensor<int8_t> qGm;
    GlobalTensor<half> yGm;
    GlobalTensor<float> scaleGm;
    GlobalTensor<float> biasGm;
    uint32_t rows = 0;
    uint32_t channels = 0;
    uint32_t tile = 0;
};

extern "C" __global__ __aicore__ void dequant_channel(GM_ADDR q, GM_ADDR scale, GM_ADDR bias,
                                                      GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    if (TILING_KEY_IS(1)) {
        DequantChannelKernel<false> op(&pipe);
        op.Init(q, scale, bias, y, tilingData);
        op.Process();
    } else if (TILING_KEY_IS(2)) {
        DequantChannelKernel<true> op(&pipe);
        op.Init(q, scale, bias, y, tilingData);
        op.Process();
    }
}
