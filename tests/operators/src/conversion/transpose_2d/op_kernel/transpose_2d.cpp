// y = x transposed, in tiles of 16 rows by tileColumns columns; both sizes are multiples of 16.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t SIDE = 16;

template <typename T>
class KernelTranspose {
public:
    __aicore__ inline KernelTranspose() {}

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const Transpose2dTilingData& tiling)
    {
        rows = tiling.rows;
        columns = tiling.columns;
        tileColumns = tiling.tileColumns;
        firstTile = tiling.tilesPerCore * GetBlockIdx();
        endTile = firstTile + tiling.tilesPerCore;
        endTile = endTile < tiling.tileNum ? endTile : tiling.tileNum;
        xGm.SetGlobalBuffer((__gm__ T*)x);
        yGm.SetGlobalBuffer((__gm__ T*)y);
        pipe.InitBuffer(inQueue, 1, SIDE * tileColumns * sizeof(T));
        pipe.InitBuffer(outQueue, 1, SIDE * tileColumns * sizeof(T));
    }

    __aicore__ inline void Process()
    {
        uint32_t tilesInRow = columns / tileColumns;
        for (uint32_t tile = firstTile; tile < endTile; tile++) {
            uint32_t row = tile / tilesInRow * SIDE;
            uint32_t column = tile % tilesInRow * tileColumns;
            CopyIn(row, column);
            Compute();
            CopyOut(row, column);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t row, uint32_t column)
    {
        LocalTensor<T> xLocal = inQueue.template AllocTensor<T>();
        DataCopyParams params;
        params.blockCount = SIDE;
        params.blockLen = tileColumns / SIDE;
        params.srcStride = (columns - tileColumns) / SIDE;
        params.dstStride = 0;
        DataCopy(xLocal, xGm[static_cast<uint64_t>(row) * columns + column], params);
        inQueue.EnQue(xLocal);
    }

    __aicore__ inline void Compute()
    {
        LocalTensor<T> xLocal = inQueue.template DeQue<T>();
        LocalTensor<T> yLocal = outQueue.template AllocTensor<T>();
        LocalTensor<T> sources[SIDE];
        LocalTensor<T> targets[SIDE];
        for (uint32_t i = 0; i < SIDE; i++) {
            sources[i] = xLocal[i * tileColumns];
            targets[i] = yLocal[i * SIDE];
        }
        TransDataTo5HDParams params;
        params.dstHighHalf = false;
        params.srcHighHalf = false;
        params.repeatTimes = tileColumns / SIDE;
        params.srcRepStride = params.repeatTimes == 1 ? 0 : 1;
        params.dstRepStride = params.repeatTimes == 1 ? 0 : SIDE;
        TransDataTo5HD<T>(targets, sources, params);
        outQueue.EnQue(yLocal);
        inQueue.FreeTensor(xLocal);
    }

    __aicore__ inline void CopyOut(uint32_t row, uint32_t column)
    {
        LocalTensor<T> yLocal = outQueue.template DeQue<T>();
        DataCopyParams params;
        params.blockCount = tileColumns;
        params.blockLen = 1;
        params.srcStride = 0;
        params.dstStride = rows / SIDE - 1;
        DataCopy(yGm[static_cast<uint64_t>(column) * rows + row], yLocal, params);
        outQueue.FreeTensor(yLocal);
    }

private:
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> inQueue;
    TQue<QuePosition::VECOUT, 1> outQueue;
    GlobalTensor<T> xGm;
    GlobalTensor<T> yGm;
    uint32_t rows;
    uint32_t columns;
    uint32_t tileColumns;
    uint32_t firstTile;
    uint32_t endTile;
};

extern "C" __global__ __aicore__ void transpose_2d(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                   GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    KernelTranspose<DTYPE_X> op;
    op.Init(x, y, tilingData);
    op.Process();
}
