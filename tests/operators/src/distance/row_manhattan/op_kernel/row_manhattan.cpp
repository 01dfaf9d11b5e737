// City-block distance of paired rows.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;
constexpr uint32_t ROWS_PER_TILE = 4;

class RowManhattan {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR z, GM_ADDR y, const RowManhattanTilingData* tiling)
    {
        uint32_t first = tiling->rowsPerCore * GetBlockIdx();
        this->rows = tiling->rows - first < tiling->rowsPerCore ? tiling->rows - first
                                                                : tiling->rowsPerCore;
        this->length = tiling->length;
        xGm.SetGlobalBuffer((__gm__ float*)x + static_cast<uint64_t>(first) * this->length,
                            this->rows * this->length);
        zGm.SetGlobalBuffer((__gm__ float*)z + static_cast<uint64_t>(first) * this->length,
                            this->rows * this->length);
        yGm.SetGlobalBuffer((__gm__ float*)y + first, this->rows);
        pipe.InitBuffer(xQueue, BUFFER_NUM, ROWS_PER_TILE * this->length * sizeof(float));
        pipe.InitBuffer(zQueue, BUFFER_NUM, ROWS_PER_TILE * this->length * sizeof(float));
        pipe.InitBuffer(yQueue, BUFFER_NUM, ROWS_PER_TILE * sizeof(float));
        pipe.InitBuffer(gapBuf, ROWS_PER_TILE * this->length * sizeof(float));
        pipe.InitBuffer(workBuf, 2048);
    }

    __aicore__ inline void Process()
    {
        for (uint32_t row = 0; row < this->rows; row += ROWS_PER_TILE) {
            uint32_t some = this->rows - row < ROWS_PER_TILE ? this->rows - row : ROWS_PER_TILE;
            CopyIn(row, some);
            Compute(some);
            CopyOut(row, some);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t row, uint32_t some)
    {
        LocalTensor<float> xLocal = xQueue.AllocTensor<float>();
        DataCopy(xLocal, xGm[row * this->length], some * this->length);
        xQueue.EnQue(xLocal);
        LocalTensor<float> zLocal = zQueue.AllocTensor<float>();
        DataCopy(zLocal, zGm[row * this->length], some * this->length);
        zQueue.EnQue(zLocal);
    }

    __aicore__ inline void Compute(uint32_t some)
    {
        LocalTensor<float> xLocal = xQueue.DeQue<float>();
        LocalTensor<float> zLocal = zQueue.DeQue<float>();
        LocalTensor<float> yLocal = yQueue.AllocTensor<float>();
        LocalTensor<float> gap = gapBuf.Get<float>();
        LocalTensor<float> work = workBuf.Get<float>();
        Sub(gap, xLocal, zLocal, some * this->length);
        Abs(gap, gap, some * this->length);
        for (uint32_t i = 0; i < some; i++) {
            ReduceSum(yLocal[i], gap[i * this->length], work, this->length);
        }
        yQueue.EnQue(yLocal);
        xQueue.FreeTensor(xLocal);
        zQueue.FreeTensor(zLocal);
    }

    __aicore__ inline void CopyOut(uint32_t row, uint32_t some)
    {
        LocalTensor<float> yLocal = yQueue.DeQue<float>();
        DataCopyPad(yGm[row], yLocal,
                    DataCopyExtParams(1, some * sizeof(float), 0, 0, 0));
        yQueue.FreeTensor(yLocal);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFER_NUM> xQueue, zQueue;
    TQue<QuePosition::VECOUT, BUFFER_NUM> yQueue;
    TBuf<QuePosition::VECCALC> gapBuf, workBuf;
    GlobalTensor<float> xGm;
    GlobalTensor<float> zGm;
    GlobalTensor<float> yGm;
    uint32_t rows, length;
};

extern "C" __global__ __aicore__ void row_manhattan(GM_ADDR x, GM_ADDR z, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    RowManhattan op;
    op.Init(x, z, y, &tilingData);
    op.Process();
}
