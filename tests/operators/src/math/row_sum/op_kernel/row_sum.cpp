// y[r] = sum of x[r, :], accumulated in float. Long rows come in chunks.
#include "kernel_operator.h"

using namespace AscendC;

template <typename T>
class KernelRowSum {
public:
    __aicore__ inline KernelRowSum() {}

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const RowSumTilingData& tiling)
    {
        uint32_t idx = GetBlockIdx();
        uint32_t first = tiling.smallCoreRows * idx;
        rowNum = tiling.smallCoreRows;
        if (idx < tiling.bigCoreNum) {
            rowNum += GROUP;
            first += GROUP * idx;
        } else {
            first += GROUP * tiling.bigCoreNum;
        }
        if (first + rowNum > tiling.rows) {
            rowNum = tiling.rows - first;
        }
        columns = tiling.columns;
        chunk = tiling.chunk;
        xGm.SetGlobalBuffer((__gm__ T*)x + static_cast<uint64_t>(first) * columns);
        yGm.SetGlobalBuffer((__gm__ float*)y + first, rowNum);
        pipe.InitBuffer(xQueue, 2, chunk * sizeof(T));
        pipe.InitBuffer(yQueue, 1, GROUP * sizeof(float));
        pipe.InitBuffer(accBuf, chunk * sizeof(float));
        pipe.InitBuffer(castBuf, chunk * sizeof(float));
        pipe.InitBuffer(workBuf, chunk / 8 * sizeof(float));
        pipe.InitBuffer(sumBuf, 32);
    }

    __aicore__ inline void Process()
    {
        for (uint32_t row = 0; row < rowNum; row += GROUP) {
            uint32_t group = rowNum - row < GROUP ? rowNum - row : GROUP;
            LocalTensor<float> yLocal = yQueue.AllocTensor<float>();
            for (uint32_t i = 0; i < group; i++) {
                float sum = SumRow(row + i);
                yLocal.SetValue(i, sum);
            }
            yQueue.EnQue(yLocal);
            yLocal = yQueue.DeQue<float>();
            DataCopyExtParams params{1, static_cast<uint32_t>(group * sizeof(float)), 0, 0, 0};
            DataCopyPad(yGm[row], yLocal, params);
            yQueue.FreeTensor(yLocal);
        }
    }

private:
    __aicore__ inline float SumRow(uint32_t row)
    {
        LocalTensor<float> acc = accBuf.Get<float>();
        LocalTensor<float> sum = sumBuf.Get<float>();
        Duplicate(acc, 0.0f, chunk);
        for (uint32_t offset = 0; offset < columns; offset += chunk) {
            uint32_t count = columns - offset < chunk ? columns - offset : chunk;
            LocalTensor<T> xLocal = xQueue.AllocTensor<T>();
            DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
            DataCopyPadExtParams<T> pad{false, 0, 0, static_cast<T>(0)};
            DataCopyPad(xLocal, xGm[static_cast<uint64_t>(row) * columns + offset], params, pad);
            xQueue.EnQue(xLocal);
            xLocal = xQueue.DeQue<T>();
            if constexpr (IsSameType<T, float>::value) {
                Add(acc, acc, xLocal, count);
            } else {
                LocalTensor<float> casted = castBuf.Get<float>();
                Cast(casted, xLocal, RoundMode::CAST_NONE, count);
                Add(acc, acc, casted, count);
            }
            xQueue.FreeTensor(xLocal);
        }
        ReduceSum(sum, acc, workBuf.Get<float>(), chunk);
        return sum.GetValue(0);
    }

private:
    static constexpr uint32_t GROUP = 8;
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> xQueue;
    TQue<QuePosition::VECOUT, 1> yQueue;
    TBuf<QuePosition::VECCALC> accBuf, castBuf, workBuf, sumBuf;
    GlobalTensor<T> xGm;
    GlobalTensor<float> yGm;
    uint32_t rowNum = 0;
    uint32_t columns = 0;
    uint32_t chunk = 0;
};

extern "C" __global__ __aicore__ void row_sum(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    KernelRowSum<DTYPE_X> op;
    op.Init(x, y, tilingData);
    op.Process();
}
