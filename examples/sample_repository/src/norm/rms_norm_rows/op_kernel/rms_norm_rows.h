#ifndef RMS_NORM_ROWS_H
#define RMS_NORM_ROWS_H

#include <type_traits>
#include "kernel_operator.h"

namespace RmsNormRowsNs {
using namespace AscendC;

constexpr uint32_t QUEUE_DEPTH = 1;
constexpr uint32_t ONE_BLOCK_FLOAT = 8;

// One row of x at a time: y = x / sqrt(mean(x * x) + epsilon) * gamma, computed in float.
template <typename T>
class RmsNormRows {
public:
    __aicore__ inline RmsNormRows(TPipe* pipe) : pipe_(pipe) {}

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR gamma, GM_ADDR y,
                                const RmsNormRowsTilingData* tiling)
    {
        columns_ = tiling->columns;
        columnsAlign_ = tiling->columnsAlign;
        epsilon_ = tiling->epsilon;
        reciprocal_ = 1.0f / static_cast<float>(tiling->columns);
        uint32_t firstRow = tiling->rowsPerCore * GetBlockIdx();
        rows_ = tiling->rowsPerCore;
        if (firstRow + rows_ > tiling->rows) {
            rows_ = tiling->rows - firstRow;
        }
        uint64_t begin = static_cast<uint64_t>(firstRow) * columns_;
        xGm_.SetGlobalBuffer((__gm__ T*)x + begin);
        yGm_.SetGlobalBuffer((__gm__ T*)y + begin);
        gammaGm_.SetGlobalBuffer((__gm__ float*)gamma, columns_);

        pipe_->InitBuffer(xQueue_, QUEUE_DEPTH, columnsAlign_ * sizeof(T));
        pipe_->InitBuffer(yQueue_, QUEUE_DEPTH, columnsAlign_ * sizeof(T));
        pipe_->InitBuffer(gammaQueue_, 1, columnsAlign_ * sizeof(float));
        pipe_->InitBuffer(rowBuf_, columnsAlign_ * sizeof(float));
        pipe_->InitBuffer(squareBuf_, columnsAlign_ * sizeof(float));
        pipe_->InitBuffer(workBuf_, (columnsAlign_ / ONE_BLOCK_FLOAT + ONE_BLOCK_FLOAT) * sizeof(float));
        pipe_->InitBuffer(sumBuf_, ONE_BLOCK_FLOAT * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        LocalTensor<float> gammaLocal = gammaQueue_.template AllocTensor<float>();
        DataCopyPad(gammaLocal, gammaGm_,
                    {1, static_cast<uint32_t>(columns_ * sizeof(float)), 0, 0, 0},
                    {false, 0, 0, 0.0f});
        gammaQueue_.EnQue(gammaLocal);
        gammaLocal = gammaQueue_.template DeQue<float>();
        for (uint32_t row = 0; row < rows_; row++) {
            CopyIn(row);
            Compute(gammaLocal);
            CopyOut(row);
        }
        gammaQueue_.FreeTensor(gammaLocal);
    }

private:
    __aicore__ inline void CopyIn(uint32_t row)
    {
        LocalTensor<T> xLocal = xQueue_.template AllocTensor<T>();
        DataCopyExtParams params{1, static_cast<uint32_t>(columns_ * sizeof(T)), 0, 0, 0};
        DataCopyPad(xLocal, xGm_[static_cast<uint64_t>(row) * columns_], params,
                    DataCopyPadExtParams<T>());
        xQueue_.EnQue(xLocal);
    }

    __aicore__ inline void Compute(const LocalTensor<float>& gammaLocal)
    {
        LocalTensor<T> xLocal = xQueue_.template DeQue<T>();
        LocalTensor<float> rowLocal = rowBuf_.Get<float>();
        LocalTensor<float> squareLocal = squareBuf_.Get<float>();
        LocalTensor<float> workLocal = workBuf_.Get<float>();
        LocalTensor<float> sumLocal = sumBuf_.Get<float>();
        if constexpr (std::is_same<T, float>::value) {
            Adds(rowLocal, xLocal, 0.0f, columns_);
        } else {
            Cast(rowLocal, xLocal, RoundMode::CAST_NONE, columns_);
        }
        PipeBarrier<PIPE_V>();
        xQueue_.FreeTensor(xLocal);
        Mul(squareLocal, rowLocal, rowLocal, columns_);
        PipeBarrier<PIPE_V>();
        Muls(squareLocal, squareLocal, reciprocal_, columns_);
        PipeBarrier<PIPE_V>();
        ReduceSum(sumLocal, squareLocal, workLocal, columns_);
        PipeBarrier<PIPE_V>();
        Adds(sumLocal, sumLocal, epsilon_, 1);
        PipeBarrier<PIPE_V>();
        Sqrt(sumLocal, sumLocal, 1);

        event_t eventVS = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_S));
        SetFlag<HardEvent::V_S>(eventVS);
        WaitFlag<HardEvent::V_S>(eventVS);
        float scale = 1.0f / sumLocal.GetValue(0);
        event_t eventSV = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::S_V));
        SetFlag<HardEvent::S_V>(eventSV);
        WaitFlag<HardEvent::S_V>(eventSV);

        Muls(rowLocal, rowLocal, scale, columns_);
        PipeBarrier<PIPE_V>();
        LocalTensor<T> yLocal = yQueue_.template AllocTensor<T>();
        if constexpr (std::is_same<T, float>::value) {
            Mul(yLocal, rowLocal, gammaLocal, columns_);
        } else {
            Mul(rowLocal, rowLocal, gammaLocal, columns_);
            PipeBarrier<PIPE_V>();
            Cast(yLocal, rowLocal, RoundMode::CAST_RINT, columns_);
        }
        yQueue_.EnQue(yLocal);
    }

    __aicore__ inline void CopyOut(uint32_t row)
    {
        LocalTensor<T> yLocal = yQueue_.template DeQue<T>();
        DataCopyExtParams params{1, static_cast<uint32_t>(columns_ * sizeof(T)), 0, 0, 0};
        DataCopyPad(yGm_[static_cast<uint64_t>(row) * columns_], yLocal, params);
        yQueue_.FreeTensor(yLocal);
    }

    TPipe* pipe_;
    TQue<QuePosition::VECIN, QUEUE_DEPTH> xQueue_;
    TQue<QuePosition::VECIN, 1> gammaQueue_;
    TQue<QuePosition::VECOUT, QUEUE_DEPTH> yQueue_;
    TBuf<TPosition::VECCALC> rowBuf_;
    TBuf<TPosition::VECCALC> squareBuf_;
    TBuf<TPosition::VECCALC> workBuf_;
    TBuf<TPosition::VECCALC> sumBuf_;
    GlobalTensor<T> xGm_;
    GlobalTensor<T> yGm_;
    GlobalTensor<float> gammaGm_;
    uint32_t rows_ = 0;
    uint32_t columns_ = 0;
    uint32_t columnsAlign_ = 0;
    float epsilon_ = 0.0f;
    float reciprocal_ = 0.0f;
};
}  // namespace RmsNormRowsNs

#endif  // RMS_NORM_ROWS_H
