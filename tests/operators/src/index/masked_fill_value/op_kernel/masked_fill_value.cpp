// y = value where mask is set, else x.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t REPEAT_ELEMENTS = 256;

template <typename T>
class KernelMaskedFill {
public:
    __aicore__ inline KernelMaskedFill() {}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR mask, GM_ADDR y,
                                const MaskedFillValueTilingData& tiling)
    {
        this->value = static_cast<T>(tiling.value);
        this->tileLength = tiling.tileLength;
        uint64_t blockIdx = GetBlockIdx();
        uint64_t begin;
        if (blockIdx < tiling.bigNum) {
            begin = tiling.bigLength * blockIdx;
            this->length = tiling.bigLength;
        } else {
            begin = tiling.bigLength * tiling.bigNum + tiling.smallLength * (blockIdx - tiling.bigNum);
            this->length = tiling.smallLength;
        }
        if (begin + this->length > tiling.length) {
            this->length = tiling.length - begin;
        }
        xGm.SetGlobalBuffer((__gm__ T*)x + begin, this->length);
        maskGm.SetGlobalBuffer((__gm__ uint8_t*)mask + begin, this->length);
        yGm.SetGlobalBuffer((__gm__ T*)y + begin, this->length);
        pipe.InitBuffer(xQueue, 2, this->tileLength * sizeof(T));
        pipe.InitBuffer(maskQueue, 2, this->tileLength);
        pipe.InitBuffer(yQueue, 2, this->tileLength * sizeof(T));
        pipe.InitBuffer(halfBuf, this->tileLength * sizeof(half));
        pipe.InitBuffer(bitBuf, this->tileLength / 8);
    }

    __aicore__ inline void Process()
    {
        uint64_t tileNum = (this->length + this->tileLength - 1) / this->tileLength;
        for (uint64_t i = 0; i < tileNum; i++) {
            uint64_t left = this->length - i * this->tileLength;
            uint32_t count = left < this->tileLength ? left : this->tileLength;
            CopyIn(i * this->tileLength, count);
            Compute(count);
            CopyOut(i * this->tileLength, count);
        }
    }

private:
    __aicore__ inline void CopyIn(uint64_t offset, uint32_t count)
    {
        LocalTensor<T> xLocal = xQueue.template AllocTensor<T>();
        LocalTensor<uint8_t> maskLocal = maskQueue.template AllocTensor<uint8_t>();
        DataCopyExtParams xParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyExtParams maskParams{1, count, 0, 0, 0};
        DataCopyPad(xLocal, xGm[offset], xParams, DataCopyPadExtParams<T>{false, 0, 0, 0});
        DataCopyPad(maskLocal, maskGm[offset], maskParams,
                    DataCopyPadExtParams<uint8_t>{false, 0, 0, 0});
        xQueue.EnQue(xLocal);
        maskQueue.EnQue(maskLocal);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<T> xLocal = xQueue.template DeQue<T>();
        LocalTensor<uint8_t> maskLocal = maskQueue.template DeQue<uint8_t>();
        LocalTensor<T> yLocal = yQueue.template AllocTensor<T>();
        LocalTensor<half> maskHalf = halfBuf.Get<half>();
        LocalTensor<uint8_t> keep = bitBuf.Get<uint8_t>();
        // compares work on whole repeats: what lies past count is never stored
        uint32_t whole = (count + REPEAT_ELEMENTS - 1) / REPEAT_ELEMENTS * REPEAT_ELEMENTS;
        Duplicate(maskHalf, static_cast<half>(0), whole);
        Cast(maskHalf, maskLocal, RoundMode::CAST_NONE, count);
        CompareScalar(keep, maskHalf, static_cast<half>(0), CMPMODE::EQ, whole);
        Select(yLocal, keep, xLocal, this->value, SELMODE::VSEL_TENSOR_SCALAR_MODE, count);
        yQueue.EnQue(yLocal);
        xQueue.FreeTensor(xLocal);
        maskQueue.FreeTensor(maskLocal);
    }

    __aicore__ inline void CopyOut(uint64_t offset, uint32_t count)
    {
        LocalTensor<T> yLocal = yQueue.template DeQue<T>();
        DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPad(yGm[offset], yLocal, params);
        yQueue.FreeTensor(yLocal);
    }

private:
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> xQueue, maskQueue;
    TQue<QuePosition::VECOUT, 2> yQueue;
    TBuf<QuePosition::VECCALC> halfBuf, bitBuf;
    GlobalTensor<T> xGm, yGm;
    GlobalTensor<uint8_t> maskGm;
    uint64_t length = 0;
    uint64_t tileLength = 0;
    T value;
};

extern "C" __global__ __aicore__ void masked_fill_value(GM_ADDR x, GM_ADDR mask, GM_ADDR y,
                                                        GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    KernelMaskedFill<DTYPE_X> op;
    op.Init(x, mask, y, tilingData);
    op.Process();
}
