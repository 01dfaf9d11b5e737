// Layer normalisation over the last axis, with mean and reciprocal deviation as further outputs.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;

template <typename T>
class LayerNormRows {
public:
    __aicore__ inline LayerNormRows() {}

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                                GM_ADDR rstd, const LayerNormRowsTilingData* __restrict tiling)
    {
        this->rowLength = tiling->rowLength;
        this->rowLengthAlign = tiling->rowLengthAlign;
        this->epsilon = tiling->epsilon;
        this->factor = 1.0f / static_cast<float>(tiling->rowLength);
        uint64_t first = 0;
        if (GetBlockIdx() < tiling->formerCoreNum) {
            this->rows = tiling->formerRows;
            first = static_cast<uint64_t>(tiling->formerRows) * GetBlockIdx();
        } else {
            this->rows = tiling->tailRows;
            first = static_cast<uint64_t>(tiling->tailRows) * GetBlockIdx() + tiling->formerCoreNum;
        }
        xGm.SetGlobalBuffer((__gm__ T*)x + first * this->rowLength);
        yGm.SetGlobalBuffer((__gm__ T*)y + first * this->rowLength);
        gammaGm.SetGlobalBuffer((__gm__ T*)gamma, this->rowLength);
        betaGm.SetGlobalBuffer((__gm__ T*)beta, this->rowLength);
        meanGm.SetGlobalBuffer((__gm__ float*)mean + first, this->rows);
        rstdGm.SetGlobalBuffer((__gm__ float*)rstd + first, this->rows);

        pipe.InitBuffer(inQueueX, BUFFER_NUM, this->rowLengthAlign * sizeof(T));
        pipe.InitBuffer(outQueueY, BUFFER_NUM, this->rowLengthAlign * sizeof(T));
        pipe.InitBuffer(outQueueMean, BUFFER_NUM, 32);
        pipe.InitBuffer(outQueueRstd, BUFFER_NUM, 32);
        pipe.InitBuffer(gammaBuf, this->rowLengthAlign * sizeof(float));
        pipe.InitBuffer(betaBuf, this->rowLengthAlign * sizeof(float));
        pipe.InitBuffer(centeredBuf, this->rowLengthAlign * sizeof(float));
        pipe.InitBuffer(tmpBuf, this->rowLengthAlign * sizeof(float));
        pipe.InitBuffer(workBuf, 1024);
    }

    __aicore__ inline void Process()
    {
        LoadParameters();
        for (uint32_t i = 0; i < this->rows; i++) {
            CopyIn(i);
            Compute();
            CopyOut(i);
        }
    }

private:
    __aicore__ inline void LoadOne(const LocalTensor<float>& dst, const GlobalTensor<T>& src)
    {
        LocalTensor<T> local = inQueueX.template AllocTensor<T>();
        DataCopyPad(local, src, RowParams(), DataCopyPadExtParams<T>{false, 0, 0, 0});
        inQueueX.EnQue(local);
        local = inQueueX.template DeQue<T>();
        ToFloat(dst, local);
        inQueueX.FreeTensor(local);
    }

    __aicore__ inline void LoadParameters()
    {
        LocalTensor<float> gammaLocal = gammaBuf.Get<float>();
        LocalTensor<float> betaLocal = betaBuf.Get<float>();
        LoadOne(gammaLocal, gammaGm);
        LoadOne(betaLocal, betaGm);
    }

    __aicore__ inline DataCopyExtParams RowParams()
    {
        return {1, static_cast<uint32_t>(this->rowLength * sizeof(T)), 0, 0, 0};
    }

    __aicore__ inline void ToFloat(const LocalTensor<float>& dst, const LocalTensor<T>& src)
    {
        if constexpr (IsSameType<T, float>::value) {
            Muls(dst, src, 1.0f, this->rowLength);
        } else {
            Cast(dst, src, RoundMode::CAST_NONE, this->rowLength);
        }
    }

    __aicore__ inline void CopyIn(uint32_t row)
    {
        LocalTensor<T> xLocal = inQueueX.template AllocTensor<T>();
        DataCopyPad(xLocal, xGm[static_cast<uint64_t>(row) * this->rowLength], RowParams(),
                    DataCopyPadExtParams<T>{false, 0, 0, 0});
        inQueueX.EnQue(xLocal);
    }

    __aicore__ inline void Compute()
    {
        LocalTensor<T> xLocal = inQueueX.template DeQue<T>();
        LocalTensor<T> yLocal = outQueueY.template AllocTensor<T>();
        LocalTensor<float> meanLocal = outQueueMean.template AllocTensor<float>();
        LocalTensor<float> rstdLocal = outQueueRstd.template AllocTensor<float>();
        LocalTensor<float> centered = centeredBuf.Get<float>();
        LocalTensor<float> tmp = tmpBuf.Get<float>();
        LocalTensor<float> work = workBuf.Get<float>();
        LocalTensor<float> gammaLocal = gammaBuf.Get<float>();
        LocalTensor<float> betaLocal = betaBuf.Get<float>();

        // mean
        ToFloat(centered, xLocal);
        inQueueX.FreeTensor(xLocal);
        ReduceSum(meanLocal, centered, work, this->rowLength);
        Muls(meanLocal, meanLocal, this->factor, 1);
        float mean = meanLocal.GetValue(0);

        // variance of the centred row
        Adds(centered, centered, -mean, this->rowLength);
        Mul(tmp, centered, centered, this->rowLength);
        ReduceSum(rstdLocal, tmp, work, this->rowLength);
        float variance = rstdLocal.GetValue(0) * this->factor;
        float rstd = 1.0f / sqrt(variance + this->epsilon);
        rstdLocal.SetValue(0, rstd);

        Muls(centered, centered, rstd, this->rowLength);
        Mul(centered, centered, gammaLocal, this->rowLength);
        if constexpr (IsSameType<T, float>::value) {
            Add(yLocal, centered, betaLocal, this->rowLength);
        } else {
            Add(centered, centered, betaLocal, this->rowLength);
            Cast(yLocal, centered, RoundMode::CAST_RINT, this->rowLength);
        }
        outQueueY.EnQue(yLocal);
        outQueueMean.EnQue(meanLocal);
        outQueueRstd.EnQue(rstdLocal);
    }

    __aicore__ inline void CopyOut(uint32_t row)
    {
        LocalTensor<T> yLocal = outQueueY.template DeQue<T>();
        LocalTensor<float> meanLocal = outQueueMean.template DeQue<float>();
        LocalTensor<float> rstdLocal = outQueueRstd.template DeQue<float>();
        DataCopyPad(yGm[static_cast<uint64_t>(row) * this->rowLength], yLocal, RowParams());
        DataCopyExtParams one{1, sizeof(float), 0, 0, 0};
        DataCopyPad(meanGm[row], meanLocal, one);
        DataCopyPad(rstdGm[row], rstdLocal, one);
        outQueueY.FreeTensor(yLocal);
        outQueueMean.FreeTensor(meanLocal);
        outQueueRstd.FreeTensor(rstdLocal);
    }

private:
    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFER_NUM> inQueueX;
    TQue<QuePosition::VECOUT, BUFFER_NUM> outQueueY, outQueueMean, outQueueRstd;
    TBuf<QuePosition::VECCALC> gammaBuf, betaBuf, centeredBuf, tmpBuf, workBuf;
    GlobalTensor<T> xGm, yGm, gammaGm, betaGm;
    GlobalTensor<float> meanGm, rstdGm;
    uint32_t rows, rowLength, rowLengthAlign;
    float epsilon, factor;
};

extern "C" __global__ __aicore__ void layer_norm_rows(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta,
                                                      GM_ADDR y, GM_ADDR mean, GM_ADDR rstd,
                                                      GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    if (TILING_KEY_IS(10)) {
        LayerNormRows<float> op;
        op.Init(x, gamma, beta, y, mean, rstd, &tilingData);
        op.Process();
    } else if (TILING_KEY_IS(20)) {
        LayerNormRows<half> op;
        op.Init(x, gamma, beta, y, mean, rstd, &tilingData);
        op.Process();
    } else if (TILING_KEY_IS(30)) {
        LayerNormRows<bfloat16_t> op;
        op.Init(x, gamma, beta, y, mean, rstd, &tilingData);
        op.Process();
    }
}
