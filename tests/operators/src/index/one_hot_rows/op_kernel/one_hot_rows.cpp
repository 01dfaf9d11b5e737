// y[i, :] = off, but on at column indices[i]; an index outside [0, depth) gives a row of off.
#include "kernel_operator.h"

class KernelOneHot {
public:
    __aicore__ inline KernelOneHot() {}
    __aicore__ inline void Init(GM_ADDR indices, GM_ADDR y, const OneHotRowsTilingData& t)
    {
        depth = t.depth;
        rowsPerTile = t.rowsPerTile;
        onValue = static_cast<DTYPE_Y>(t.onValue);
        offValue = static_cast<DTYPE_Y>(t.offValue);
        uint32_t first = t.countPerCore * AscendC::GetBlockIdx();
        count = t.count - first < t.countPerCore ? t.count - first : t.countPerCore;
        indexGm.SetGlobalBuffer((__gm__ int32_t*)indices + first, count);
        yGm.SetGlobalBuffer((__gm__ DTYPE_Y*)y + static_cast<uint64_t>(first) * depth,
                            static_cast<uint64_t>(count) * depth);
        pipe.InitBuffer(indexQueue, 1, (rowsPerTile * sizeof(int32_t) + 31) / 32 * 32);
        pipe.InitBuffer(yQueue, 1, (rowsPerTile * depth * sizeof(DTYPE_Y) + 31) / 32 * 32);
    }
    __aicore__ inline void Process()
    {
        for (uint32_t row = 0; row < count; row += rowsPerTile) {
            uint32_t rows = count - row < rowsPerTile ? count - row : rowsPerTile;
            CopyIn(row, rows);
            Compute(rows);
            CopyOut(row, rows);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t row, uint32_t rows)
    {
        AscendC::LocalTensor<int32_t> index = indexQueue.AllocTensor<int32_t>();
        AscendC::DataCopyExtParams params{1, static_cast<uint32_t>(rows * sizeof(int32_t)), 0, 0, 0};
        AscendC::DataCopyPadExtParams<int32_t> pad{false, 0, 0, 0};
        AscendC::DataCopyPad(index, indexGm[row], params, pad);
        indexQueue.EnQue(index);
    }
    __aicore__ inline void Compute(uint32_t rows)
    {
        AscendC::LocalTensor<int32_t> index = indexQueue.DeQue<int32_t>();
        AscendC::LocalTensor<DTYPE_Y> y = yQueue.AllocTensor<DTYPE_Y>();
        AscendC::Duplicate(y, offValue, rows * depth);
        for (uint32_t i = 0; i < rows; i++) {
            int32_t column = index.GetValue(i);
            if (column >= 0 && column < static_cast<int32_t>(depth)) {
                y.SetValue(i * depth + column, onValue);
            }
        }
        yQueue.EnQue(y);
        indexQueue.FreeTensor(index);
    }
    __aicore__ inline void CopyOut(uint32_t row, uint32_t rows)
    {
        AscendC::LocalTensor<DTYPE_Y> y = yQueue.DeQue<DTYPE_Y>();
        AscendC::DataCopyExtParams params{1, static_cast<uint32_t>(rows * depth * sizeof(DTYPE_Y)),
                                          0, 0, 0};
        AscendC::DataCopyPad(yGm[static_cast<uint64_t>(row) * depth], y, params);
        yQueue.FreeTensor(y);
    }

private:
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::QuePosition::VECIN, 1> indexQueue;
    AscendC::TQue<AscendC::QuePosition::VECOUT, 1> yQueue;
    AscendC::GlobalTensor<int32_t> indexGm;
    AscendC::GlobalTensor<DTYPE_Y> yGm;
    uint32_t count = 0;
    uint32_t depth = 0;
    uint32_t rowsPerTile = 0;
    DTYPE_Y onValue;
    DTYPE_Y offValue;
};

extern "C" __global__ __aicore__ void one_hot_rows(GM_ADDR indices, GM_ADDR y, GM_ADDR workspace,
                                                   GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    KernelOneHot op;
    op.Init(indices, y, tilingData);
    op.Process();
}
