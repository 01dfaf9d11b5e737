// gamma and beta of a normalisation, applied to every row.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;
constexpr uint32_t ROWS_PER_TILE = 8;

class ScaleShiftRows {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, const ScaleShiftRowsTilingData* tiling)
    {
        uint32_t first = tiling->rowsPerCore * GetBlockIdx();
        this->rows = tiling->rows - first < tiling->rowsPerCore ? tiling->rows - first
                                                                : tiling->rowsPerCore;
        this->length = tiling->length;
        xGm.SetGlobalBuffer((__gm__ float*)x + static_cast<uint64_t>(first) * this->length,
                            this->rows * this->length);
        gammaGm.SetGlobalBuffer((__gm__ float*)gamma, this->length);
        betaGm.SetGlobalBuffer((__gm__ float*)beta, this->length);
        yGm.SetGlobalBuffer((__gm__ float*)y + static_cast<uint64_t>(first) * this->length,
                            this->rows * this->length);
        pipe.InitBuffer(xQueue, BUFFER_NUM, ROWS_PER_TILE * this->length * sizeof(float));
        pipe.InitBuffer(yQueue, BUFFER_NUM, ROWS_PER_TILE * this->length * sizeof(float));
        pipe.InitBuffer(gammaBuf, this->length * sizeof(float));
        pipe.InitBuffer(betaBuf, this->length * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        LoadShared();
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

    __aicore__ inline void LoadShared()
    {
        LocalTensor<float> gamma = gammaBuf.Get<float>();
        DataCopy(gamma, gammaGm, this->length);
        LocalTensor<float> beta = betaBuf.Get<float>();
        DataCopy(beta, betaGm, this->length);
        event_t loaded = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE2_V));
        SetFlag<HardEvent::MTE2_V>(loaded);
        WaitFlag<HardEvent::MTE2_V>(loaded);
    }

    __aicore__ inline void Compute(uint32_t some)
    {
        LocalTensor<float> xLocal = xQueue.DeQue<float>();
        LocalTensor<float> yLocal = yQueue.AllocTensor<float>();
        LocalTensor<float> gamma = gammaBuf.Get<float>();
        LocalTensor<float> beta = betaBuf.Get<float>();
        for (uint32_t i = 0; i < some; i++) {
            Mul(yLocal[i * this->length], xLocal[i * this->length], gamma, this->length);
            Add(yLocal[i * this->length], yLocal[i * this->length], beta, this->length);
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
    TBuf<QuePosition::VECCALC> gammaBuf, betaBuf;
    GlobalTensor<float> xGm;
    GlobalTensor<float> gammaGm;
    GlobalTensor<float> betaGm;
    GlobalTensor<float> yGm;
    uint32_t rows, length;
};

extern "C" __global__ __aicore__ void scale_shift_rows(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    ScaleShiftRows op;
    op.Init(x, gamma, beta, y, &tilingData);
    op.Process();
}
