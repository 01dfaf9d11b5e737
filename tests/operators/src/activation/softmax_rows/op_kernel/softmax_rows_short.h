#ifndef SOFTMAX_ROWS_SHORT_H
#define SOFTMAX_ROWS_SHORT_H

#include "softmax_rows_base.h"

namespace SoftmaxRowsOp {
template <typename T>
class SoftmaxRowsShort : public SoftmaxRowsBase<T> {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SoftmaxRowsTilingData* tiling, TPipe* pipe)
    {
        this->InitBase(x, y, tiling, pipe, 1);
    }

    __aicore__ inline void Process()
    {
        for (uint32_t row = 0; row < this->rowNum; row++) {
            uint64_t offset = static_cast<uint64_t>(row) * this->columns;
            this->Load(offset, this->columns);
            LocalTensor<float> value = this->Take(this->columns);
            float maximum = this->MaxOf(value, this->columns);
            Adds(value, value, -maximum, this->columns);
            Exp(value, value, this->columns);
            float sum = this->SumOf(value, this->columns);
            this->Store(value, sum, offset, this->columns);
        }
    }
};
}  // namespace SoftmaxRowsOp

#endif  // SOFTMAX_ROWS_SHORT_H
