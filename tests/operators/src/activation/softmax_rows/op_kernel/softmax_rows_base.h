#ifndef SOFTMAX_ROWS_BASE_H
#define SOFTMAX_ROWS_BASE_H

#include "kernel_operator.h"

namespace SoftmaxRowsOp {
using namespace AscendC;

constexpr float LOWEST = -3.4e38f;

// What the short-row and the long-row kernel share: partition, buffers, copies, float conversion.
template <typename T>
class SoftmaxRowsBase {
protected:
    __aicore__ inline void InitBase(GM_ADDR x, GM_ADDR y, const SoftmaxRowsTilingData* tiling,
                                    TPipe* pipe, int32_t depth)
    {
        columns = tiling->columns;
        chunk = tiling->chunk;
        uint32_t first = tiling->rowsPerCore * GetBlockIdx();
        rowNum = tiling->rows - first < tiling->rowsPerCore ? tiling->rows - first
                                                            : tiling->rowsPerCore;
        xGm.SetGlobalBuffer((__gm__ T*)x + static_cast<uint64_t>(first) * columns);
        yGm.SetGlobalBuffer((__gm__ T*)y + static_cast<uint64_t>(first) * columns);
        pipe->InitBuffer(xQueue, depth, chunk * sizeof(T));
        pipe->InitBuffer(yQueue, depth, chunk * sizeof(T));
        pipe->InitBuffer(valueBuf, chunk * sizeof(float));
        pipe->InitBuffer(workBuf, chunk * sizeof(float));
        pipe->InitBuffer(scalarBuf, 64);
    }

    __aicore__ inline void Load(uint64_t offset, uint32_t count)
    {
        LocalTensor<T> xLocal = xQueue.template AllocTensor<T>();
        DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad{false, 0, 0, static_cast<T>(0)};
        DataCopyPad(xLocal, xGm[offset], params, pad);
        xQueue.EnQue(xLocal);
    }

    // the next loaded chunk, as float
    __aicore__ inline LocalTensor<float> Take(uint32_t count)
    {
        LocalTensor<T> xLocal = xQueue.template DeQue<T>();
        LocalTensor<float> value = valueBuf.Get<float>();
        if constexpr (IsSameType<T, float>::value) {
            Adds(value, xLocal, 0.0f, count);
        } else {
            Cast(value, xLocal, RoundMode::CAST_NONE, count);
        }
        xQueue.FreeTensor(xLocal);
        return value;
    }

    __aicore__ inline float MaxOf(const LocalTensor<float>& value, uint32_t count)
    {
        LocalTensor<float> result = scalarBuf.Get<float>();
        ReduceMax(result, value, workBuf.Get<float>(), count);
        return result.GetValue(0);
    }

    __aicore__ inline float SumOf(const LocalTensor<float>& value, uint32_t count)
    {
        LocalTensor<float> result = scalarBuf.Get<float>();
        ReduceSum(result, value, workBuf.Get<float>(), count);
        return result.GetValue(0);
    }

    // value / sum to GM
    __aicore__ inline void Store(const LocalTensor<float>& value, float sum, uint64_t offset,
                                 uint32_t count)
    {
        LocalTensor<T> yLocal = yQueue.template AllocTensor<T>();
        float scale = 1.0f / sum;
        if constexpr (IsSameType<T, float>::value) {
            Muls(yLocal, value, scale, count);
        } else {
            Muls(value, value, scale, count);
            Cast(yLocal, value, RoundMode::CAST_RINT, count);
        }
        yQueue.EnQue(yLocal);
        yLocal = yQueue.template DeQue<T>();
        DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPad(yGm[offset], yLocal, params);
        yQueue.FreeTensor(yLocal);
    }

    TQue<QuePosition::VECIN, 2> xQueue;
    TQue<QuePosition::VECOUT, 2> yQueue;
    TBuf<QuePosition::VECCALC> valueBuf;
    TBuf<QuePosition::VECCALC> workBuf;
    TBuf<QuePosition::VECCALC> scalarBuf;
    GlobalTensor<T> xGm;
    GlobalTensor<T> yGm;
    uint32_t rowNum = 0;
    uint32_t columns = 0;
    uint32_t chunk = 0;
};
}  // namespace SoftmaxRowsOp

#endif  // SOFTMAX_ROWS_BASE_H
