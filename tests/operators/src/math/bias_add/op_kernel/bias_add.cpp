// y[r, c] = x[r, c] + bias[c]. Built with automatic synchronisation off: the flags below are all.
#include "kernel_operator.h"

using namespace AscendC;

template <typename T>
class KernelBiasAdd {
public:
    __aicore__ inline KernelBiasAdd(TPipe& pipe) : pipe_(pipe) {}

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR bias, GM_ADDR y, const BiasAddTilingData& tiling)
    {
        columns_ = tiling.columns;
        tile_ = tiling.columnTile;
        const int64_t first = tiling.rowsPerCore * GetBlockIdx();
        rows_ = tiling.rows - first;
        rows_ = rows_ < tiling.rowsPerCore ? rows_ : tiling.rowsPerCore;
        xGm_.SetGlobalBuffer((__gm__ T*)x + first * columns_);
        yGm_.SetGlobalBuffer((__gm__ T*)y + first * columns_);
        biasGm_.SetGlobalBuffer((__gm__ T*)bias, columns_);
        pipe_.InitBuffer(xBuf_, tile_ * sizeof(T));
        pipe_.InitBuffer(yBuf_, tile_ * sizeof(T));
        pipe_.InitBuffer(biasBuf_, tile_ * sizeof(T));
    }

    __aicore__ inline void Process()
    {
        LocalTensor<T> x = xBuf_.Get<T>();
        LocalTensor<T> y = yBuf_.Get<T>();
        LocalTensor<T> bias = biasBuf_.Get<T>();
        const TEventID loaded = pipe_.AllocEventID<HardEvent::MTE2_V>();
        const TEventID consumed = pipe_.AllocEventID<HardEvent::V_MTE2>();
        const TEventID computed = pipe_.AllocEventID<HardEvent::V_MTE3>();
        const TEventID stored = pipe_.AllocEventID<HardEvent::MTE3_V>();

        // both buffers start out free
        SetFlag<HardEvent::V_MTE2>(consumed);
        SetFlag<HardEvent::MTE3_V>(stored);
        for (int64_t column = 0; column < columns_; column += tile_) {
            const uint32_t count = columns_ - column < tile_ ? columns_ - column : tile_;
            const uint32_t bytes = count * sizeof(T);
            const DataCopyExtParams copy{1, bytes, 0, 0, 0};
            const DataCopyPadExtParams<T> pad{false, 0, 0, 0};
            for (int64_t row = 0; row < rows_; row++) {
                WaitFlag<HardEvent::V_MTE2>(consumed);
                if (row == 0) {
                    DataCopyPad(bias, biasGm_[column], copy, pad);
                }
                DataCopyPad(x, xGm_[row * columns_ + column], copy, pad);
                SetFlag<HardEvent::MTE2_V>(loaded);
                WaitFlag<HardEvent::MTE2_V>(loaded);

                WaitFlag<HardEvent::MTE3_V>(stored);
                Add(y, x, bias, count);
                SetFlag<HardEvent::V_MTE2>(consumed);
                SetFlag<HardEvent::V_MTE3>(computed);
                WaitFlag<HardEvent::V_MTE3>(computed);

                DataCopyPad(yGm_[row * columns_ + column], y, copy);
                SetFlag<HardEvent::MTE3_V>(stored);
            }
        }
        WaitFlag<HardEvent::V_MTE2>(consumed);
        WaitFlag<HardEvent::MTE3_V>(stored);

        pipe_.ReleaseEventID<HardEvent::MTE2_V>(loaded);
        pipe_.ReleaseEventID<HardEvent::V_MTE2>(consumed);
        pipe_.ReleaseEventID<HardEvent::V_MTE3>(computed);
        pipe_.ReleaseEventID<HardEvent::MTE3_V>(stored);
    }

private:
    TPipe& pipe_;
    TBuf<TPosition::VECCALC> xBuf_;
    TBuf<TPosition::VECCALC> yBuf_;
    TBuf<TPosition::VECCALC> biasBuf_;
    GlobalTensor<T> xGm_;
    GlobalTensor<T> yGm_;
    GlobalTensor<T> biasGm_;
    int64_t rows_ = 0;
    int64_t columns_ = 0;
    int64_t tile_ = 0;
};

extern "C" __global__ __aicore__ void bias_add(GM_ADDR x, GM_ADDR bias, GM_ADDR y, GM_ADDR workspace,
                                               GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelBiasAdd<DTYPE_X> op(pipe);
    op.Init(x, bias, y, tilingData);
    op.Process();
}
