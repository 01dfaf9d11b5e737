// y[r] = max |x[r, :]|: the dynamic range that a per-row quantiser needs.
#include "kernel_operator.h"
using namespace AscendC;

template <typename T>
class RowMaxAbsKernel {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const RowMaxAbsTilingData* tiling)
    {
        columns = tiling->columns;
        stride = tiling->stride;
        tileRows = tiling->tileRows;
        int64_t first = static_cast<int64_t>(tiling->coreRows) * GetBlockIdx();
        rowNum = tiling->rows - first < tiling->coreRows ? tiling->rows - first : tiling->coreRows;
        xGm.SetGlobalBuffer((__gm__ T*)x + first * columns, static_cast<uint64_t>(rowNum) * columns);
        yGm.SetGlobalBuffer((__gm__ T*)y + first, rowNum);
        pipe.InitBuffer(inQue, 2, tileRows * stride * sizeof(T));
        pipe.InitBuffer(absBuf, tileRows * stride * sizeof(T));
        pipe.InitBuffer(workBuf, 2048);
        pipe.InitBuffer(maxBuf, 32);
        pipe.InitBuffer(outQue, 1, ((tileRows * sizeof(T) + 31) / 32) * 32);
    }

    __aicore__ inline void Process()
    {
        for (uint32_t row = 0; row < rowNum; row += tileRows) {
            uint32_t n = tileRows < rowNum - row ? tileRows : rowNum - row;
            CopyIn(row, n);
            Compute(n);
            CopyOut(row, n);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t row, uint32_t n)
    {
        LocalTensor<T> x = inQue.AllocTensor<T>();
        DataCopyExtParams params;
        params.blockCount = n;
        params.blockLen = columns * sizeof(T);
        params.srcStride = 0;
        params.dstStride = 0;
        DataCopyPadExtParams<T> pad;
        pad.isPad = true;
        pad.leftPadding = 0;
        pad.rightPadding = stride - columns;
        pad.paddingValue = static_cast<T>(0);
        DataCopyPad(x, xGm[static_cast<uint64_t>(row) * columns], params, pad);
        inQue.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t n)
    {
        LocalTensor<T> x = inQue.DeQue<T>();
        LocalTensor<T> y = outQue.AllocTensor<T>();
        LocalTensor<T> absolute = absBuf.Get<T>();
        LocalTensor<T> work = workBuf.Get<T>();
        LocalTensor<T> maximum = maxBuf.Get<T>();
        Abs(absolute, x, n * stride);
        inQue.FreeTensor(x);
        for (uint32_t i = 0; i < n; i++) {
            ReduceMax(maximum, absolute[i * stride], work, stride, false);
            y.SetValue(i, maximum.GetValue(0));
        }
        outQue.EnQue(y);
    }

    __aicore__ inline void CopyOut(uint32_t row, uint32_t n)
    {
        LocalTensor<T> y = outQue.DeQue<T>();
        DataCopyExtParams params{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
        DataCopyPad(yGm[row], y, params);
        outQue.FreeTensor(y);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inQue;
    TQue<QuePosition::VECOUT, 1> outQue;
    TBuf<> absBuf;
    TBuf<> workBuf;
    TBuf<> maxBuf;
    GlobalTensor<T> xGm;
    GlobalTensor<T> yGm;
    uint32_t rowNum;
    uint32_t columns;
    uint32_t stride;
    uint32_t tileRows;
};

extern "C" __global__ __aicore__ void row_max_abs(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                  GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    if (TILING_KEY_IS(1)) {
        RowMaxAbsKernel<half> op;
        op.Init(x, y, &tilingData);
        op.Process();
    } else if (TILING_KEY_IS(2)) {
        RowMaxAbsKernel<float> op;
        op.Init(x, y, &tilingData);
        op.Process();
    }
}
