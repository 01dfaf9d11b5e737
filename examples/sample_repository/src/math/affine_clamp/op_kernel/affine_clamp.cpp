// y = min(max(alpha * x + beta, low), high)
#include "kernel_operator.h"

constexpr int32_t BUFFER_NUM = 2;

class KernelAffineClamp {
public:
    __aicore__ inline KernelAffineClamp() {}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const AffineClampTilingData& tiling)
    {
        this->tileLength = tiling.tileLength;
        this->alpha = static_cast<DTYPE_X>(tiling.alpha);
        this->beta = static_cast<DTYPE_X>(tiling.beta);
        this->low = static_cast<DTYPE_X>(tiling.low);
        this->high = static_cast<DTYPE_X>(tiling.high);
        uint32_t begin = tiling.blockLength * AscendC::GetBlockIdx();
        this->length = tiling.totalLength - begin;
        if (this->length > tiling.blockLength) {
            this->length = tiling.blockLength;
        }
        this->tileNum = (this->length + this->tileLength - 1) / this->tileLength;
        xGm.SetGlobalBuffer((__gm__ DTYPE_X*)x + begin, this->length);
        yGm.SetGlobalBuffer((__gm__ DTYPE_Y*)y + begin, this->length);
        pipe.InitBuffer(inQueueX, BUFFER_NUM, this->tileLength * sizeof(DTYPE_X));
        pipe.InitBuffer(outQueueY, BUFFER_NUM, this->tileLength * sizeof(DTYPE_Y));
        pipe.InitBuffer(scaled, this->tileLength * sizeof(DTYPE_X));
        pipe.InitBuffer(shifted, this->tileLength * sizeof(DTYPE_X));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t i = 0; i < this->tileNum; i++) {
            uint32_t count = this->tileLength;
            if (i == this->tileNum - 1) {
                count = this->length - i * this->tileLength;
            }
            CopyIn(i, count);
            Compute(count);
            CopyOut(i, count);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t progress, uint32_t count)
    {
        AscendC::LocalTensor<DTYPE_X> xLocal = inQueueX.AllocTensor<DTYPE_X>();
        AscendC::DataCopyParams copyParams = {1, static_cast<uint16_t>(count * sizeof(DTYPE_X)), 0, 0};
        AscendC::DataCopyPadParams padParams = {false, 0, 0, 0};
        AscendC::DataCopyPad(xLocal, xGm[progress * this->tileLength], copyParams, padParams);
        inQueueX.EnQue(xLocal);
    }
    __aicore__ inline void Compute(uint32_t count)
    {
        AscendC::LocalTensor<DTYPE_X> xLocal = inQueueX.DeQue<DTYPE_X>();
        AscendC::LocalTensor<DTYPE_Y> yLocal = outQueueY.AllocTensor<DTYPE_Y>();
        AscendC::LocalTensor<DTYPE_X> scaledLocal = scaled.Get<DTYPE_X>();
        AscendC::LocalTensor<DTYPE_X> shiftedLocal = shifted.Get<DTYPE_X>();
        AscendC::Muls(scaledLocal, xLocal, this->alpha, count);
        AscendC::Adds(shiftedLocal, scaledLocal, this->beta, count);
        AscendC::Maxs(shiftedLocal, shiftedLocal, this->low, count);
        AscendC::Mins(yLocal, shiftedLocal, this->high, count);
        outQueueY.EnQue<DTYPE_Y>(yLocal);
        inQueueX.FreeTensor(xLocal);
    }
    __aicore__ inline void CopyOut(uint32_t progress, uint32_t count)
    {
        AscendC::LocalTensor<DTYPE_Y> yLocal = outQueueY.DeQue<DTYPE_Y>();
        AscendC::DataCopyParams copyParams = {1, static_cast<uint16_t>(count * sizeof(DTYPE_Y)), 0, 0};
        AscendC::DataCopyPad(yGm[progress * this->tileLength], yLocal, copyParams);
        outQueueY.FreeTensor(yLocal);
    }

private:
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, BUFFER_NUM> inQueueX;
    AscendC::TQue<AscendC::TPosition::VECOUT, BUFFER_NUM> outQueueY;
    AscendC::TBuf<AscendC::TPosition::VECCALC> scaled;
    AscendC::TBuf<AscendC::TPosition::VECCALC> shifted;
    AscendC::GlobalTensor<DTYPE_X> xGm;
    AscendC::GlobalTensor<DTYPE_Y> yGm;
    uint32_t length;
    uint32_t tileNum;
    uint32_t tileLength;
    DTYPE_X alpha;
    DTYPE_X beta;
    DTYPE_X low;
    DTYPE_X high;
};

extern "C" __global__ __aicore__ void affine_clamp(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                   GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    KernelAffineClamp op;
    op.Init(x, y, tilingData);
    op.Process();
}
