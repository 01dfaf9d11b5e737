#ifndef SOFTMAX_ROWS_LONG_H
#define SOFTMAX_ROWS_LONG_H

#include "softmax_rows_base.h"

namespace SoftmaxRowsOp {
// First pass: running maximum and sum, the sum rescaled when the maximum rises. Second pass: write.
template <typename T>
class SoftmaxRowsLong : public SoftmaxRowsBase<T> {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SoftmaxRowsTilingData* tiling, TPipe* pipe)
    {
        this->InitBase(x, y, tiling, pipe, 2);
        pipe->InitBuffer(rescaleBuf, 32);
    }

    __aicore__ inline void Process()
    {
        for (uint32_t row = 0; row < this->rowNum; row++) {
            uint64_t start = static_cast<uint64_t>(row) * this->columns;
            float maximum = LOWEST;
            float sum = 0.0f;
            Statistics(start, maximum, sum);
            for (uint32_t c = 0; c < this->columns; c += this->chunk) {
                uint32_t count = Count(c);
                this->Load(start + c, count);
                LocalTensor<float> value = this->Take(count);
                Adds(value, value, -maximum, count);
                Exp(value, value, count);
                this->Store(value, sum, start + c, count);
            }
        }
    }

private:
    __aicore__ inline uint32_t Count(uint32_t column)
    {
        uint32_t left = this->columns - column;
        return left < this->chunk ? left : this->chunk;
    }

    __aicore__ inline void Statistics(uint64_t start, float& maximum, float& sum)
    {
        for (uint32_t c = 0; c < this->columns; c += this->chunk) {
            uint32_t count = Count(c);
            this->Load(start + c, count);
            LocalTensor<float> value = this->Take(count);
            float chunkMax = this->MaxOf(value, count);
            if (chunkMax > maximum) {
                sum = sum * ExpScalar(maximum - chunkMax);
                maximum = chunkMax;
            }
            Adds(value, value, -maximum, count);
            Exp(value, value, count);
            sum = sum + this->SumOf(value, count);
        }
    }

    __aicore__ inline float ExpScalar(float x)
    {
        LocalTensor<float> t = rescaleBuf.Get<float>();
        Duplicate(t, x, 8);
        Exp(t, t, 8);
        return t.GetValue(0);
    }

    TBuf<QuePosition::VECCALC> rescaleBuf;
};
}  // namespace SoftmaxRowsOp

#endif  // SOFTMAX_ROWS_LONG_H
