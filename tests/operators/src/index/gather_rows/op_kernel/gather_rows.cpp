// y[i, :] = table[indices[i], :]; negative indices count from the end.
#include "kernel_operator.h"

using namespace AscendC;

template <typename T>
class GatherRowsKernel {
public:
    __aicore__ inline void Init(GM_ADDR table, GM_ADDR indices, GM_ADDR y,
                                const GatherRowsTilingData& tiling, TPipe* pipe)
    {
        rowNum = tiling.rowNum;
        rowLength = tiling.rowLength;
        rowTile = tiling.rowTile;
        uint32_t first = tiling.indexPerCore * GetBlockIdx();
        indexNum = tiling.indexNum - first;
        indexNum = indexNum > tiling.indexPerCore ? tiling.indexPerCore : indexNum;
        tableGm.SetGlobalBuffer((__gm__ T*)table, static_cast<uint64_t>(rowNum) * rowLength);
        indexGm.SetGlobalBuffer((__gm__ int32_t*)indices + first, indexNum);
        yGm.SetGlobalBuffer((__gm__ T*)y + static_cast<uint64_t>(first) * rowLength,
                            static_cast<uint64_t>(indexNum) * rowLength);
        pipe->InitBuffer(rowQueue, 2, rowTile * sizeof(T));
        pipe->InitBuffer(indexQueue, 1, tiling.indexPerCore * sizeof(int32_t));
    }

    __aicore__ inline void Process()
    {
        LocalTensor<int32_t> indexLocal = indexQueue.AllocTensor<int32_t>();
        DataCopyExtParams params{1, static_cast<uint32_t>(indexNum * sizeof(int32_t)), 0, 0, 0};
        DataCopyPadExtParams<int32_t> pad{false, 0, 0, 0};
        DataCopyPad(indexLocal, indexGm, params, pad);
        indexQueue.EnQue(indexLocal);
        indexLocal = indexQueue.DeQue<int32_t>();
        event_t loaded = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE2_S));
        SetFlag<HardEvent::MTE2_S>(loaded);
        WaitFlag<HardEvent::MTE2_S>(loaded);
        for (uint32_t i = 0; i < indexNum; i++) {
            int32_t row = indexLocal.GetValue(i);
            if (row < 0) {
                row += rowNum;
            }
            CopyRow(row, i);
        }
        indexQueue.FreeTensor(indexLocal);
    }

private:
    __aicore__ inline void CopyRow(int32_t from, uint32_t to)
    {
        for (uint32_t c = 0; c < rowLength; c += rowTile) {
            uint32_t count = rowLength - c < rowTile ? rowLength - c : rowTile;
            DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
            DataCopyPadExtParams<T> pad{false, 0, 0, 0};
            LocalTensor<T> row = rowQueue.AllocTensor<T>();
            DataCopyPad(row, tableGm[static_cast<uint64_t>(from) * rowLength + c], params, pad);
            rowQueue.EnQue(row);
            row = rowQueue.DeQue<T>();
            DataCopyPad(yGm[static_cast<uint64_t>(to) * rowLength + c], row, params);
            rowQueue.FreeTensor(row);
        }
    }

    TQueBind<TPosition::VECIN, TPosition::VECOUT, 2> rowQueue;
    TQue<TPosition::VECIN, 1> indexQueue;
    GlobalTensor<T> tableGm;
    GlobalTensor<int32_t> indexGm;
    GlobalTensor<T> yGm;
    uint32_t rowNum;
    uint32_t rowLength;
    uint32_t rowTile;
    uint32_t indexNum;
};

extern "C" __global__ __aicore__ void gather_rows(GM_ADDR table, GM_ADDR indices, GM_ADDR y,
                                                  GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    if (TILING_KEY_IS(2)) {
        GatherRowsKernel<half> op;
        op.Init(table, indices, y, tilingData, &pipe);
        op.Process();
    } else if (TILING_KEY_IS(4)) {
        GatherRowsKernel<int32_t> op;
        op.Init(table, indices, y, tilingData, &pipe);
        op.Process();
    }
}
