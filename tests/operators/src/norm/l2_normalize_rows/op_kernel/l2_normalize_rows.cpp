// Each row divided by its length.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;
constexpr uint32_t ROWS_PER_TILE = 4;

class L2NormalizeRows {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const L2NormalizeRowsTilingData* tiling)
    {
        uint32_t first = tiling->rowsPerCore * GetBlockIdx();
        this->rows = tiling->rows - first < tiling->rowsPerCore ? tiling->rows - first
                                                                : tiling->rowsPerCore;
        this->length = tiling->length;
        xGm.SetGlobalBuffer((__gm__ float*)x + static_cast<uint64_t>(first) * this->length,
                            this->rows * this->length);
        yGm.SetGlobalBuffer((__gm__ float*)y + static_cast<uint64_t>(first) * this->length,
                            this->rows * this->length);
        pipe.InitBuffer(xQueue, BUFFER_NUM, ROWS_PER_TILE * this->length * sizeof(float));
        pipe.InitBuffer(yQueue, BUFFER_NUM, ROWS_PER_TILE * this->length * sizeof(float));
        pipe.InitBuffer(squareBuf, ROWS_PER_TILE * this->length * sizeof(float));
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
    }

    __aicore__ inline void Compute(uint32_t some)
    {
        LocalTensor<float> xLocal = xQueue.DeQue<float>();
        LocalTensor<float> yLocal = yQueue.AllocTensor<float>();
        LocalTensor<float> square = squareBuf.Get<float>();
        LocalTensor<float> work = workBuf.Get<float>();
        Mul(square, xLocal, xLocal, some * this->length);
        for (uint32_t i = 0; i < some; i++) {
            ReduceSum(work, square[i * this->length], work[64], this->length);
            float norm = sqrt(work.GetValue(0) + 1e-12f);
            Muls(yLocal[i * this->length], xLocal[i * this->length], 1.0f / norm, this->length);
        }
        yQueue.EnQue(yLocal);
        xQueue.FreeTensor(xLocal);
    }

    __aicore__ inline void CopyOut(uint32_t row, uint32_t some)
    {
        LocalTensor<float> yLocal = yQueue.DeQue<float>();
        DataCopy(yGm[row * this->length], yLocal, some * this->length);
        yQueue.FreeTensor(yLocal);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFER_NUM> xQueue;
    TQue<QuePosition::VECOUT, BUFFER_NUM> yQueue;
    TBuf<QuePosition::VECCALC> squareBuf, workBuf;
    GlobalTensor<float> xGm;
    GlobalTensor<float> yGm;
    uint32_t rows, length;
};

extern "C" __global__ __aicore__ void l2_normalize_rows(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    L2NormalizeRows op;
    op.Init(x, y, &tilingData);
    op.Process();
}
