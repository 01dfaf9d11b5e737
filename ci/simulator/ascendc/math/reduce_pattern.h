// Reductions of a matrix along its last (AR) or its first axis (RA).
#pragma once

#include "reduce.h"

namespace AscendC {

namespace Pattern {
namespace Reduce {
struct AR {};  // each row becomes one element
struct RA {};  // the rows become one
}  // namespace Reduce
}  // namespace Pattern

struct ProdReduction {
    template <typename T> __aicore__ static void combine(T* dst, T* a, T* b) {
        vmul(dst, a, b, 1, 1, 1, 1, 8, 8, 8);
    }
};

// Rows lie `pitch` elements apart; a row of partial results is left in dst after every step.
template <class Reduction, typename T>
__aicore__ inline void combine_rows(T* dst, T* src, uint32_t rows, uint32_t pitch,
                                    uint32_t columns) {
    copy_ubuf_to_ubuf(dst, src, 0, 1, uint16_t(pitch * sizeof(T) / ONE_BLK_SIZE), 0, 0);
    pipe_barrier(PIPE_V);
    const CounterMode mode(columns);
    for (uint32_t row = 1; row < rows; ++row) {
        Reduction::combine(dst, dst, src + uint64_t(row) * pitch);
        pipe_barrier(PIPE_V);
    }
}

// The product of a row, for which there is no instruction: halves are multiplied until one block
// is left, whose elements the scalar unit multiplies. `row` is overwritten.
template <typename T> __aicore__ inline T product_of_row(T* row, uint32_t columns) {
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    while (columns > block) {
        const uint32_t kept = (columns / 2 + block - 1) / block * block;
        const CounterMode mode(columns - kept);
        ProdReduction::combine(row, row, row + kept);
        pipe_barrier(PIPE_V);
        columns = kept;
    }
    order_pipes<HardEvent::V_S>();
    float product = 1;
    for (uint32_t i = 0; i < columns; ++i) product *= float(load_scalar_result(row + i));
    return T(product);
}

template <class Reduction, class pattern, typename T>
__aicore__ inline void reduce_matrix(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                     const LocalTensor<uint8_t>& scratch, const uint32_t shape[]) {
    constexpr bool inner = IsSameType<pattern, Pattern::Reduce::AR>::value;
    static_assert(inner || IsSameType<pattern, Pattern::Reduce::RA>::value,
                  "reductions take the patterns AR and RA");
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    const uint32_t pitch = (shape[1] + block - 1) / block * block;
    if constexpr (!inner) {
        combine_rows<Reduction>(dst.pointer(), src.pointer(), shape[0], pitch, shape[1]);
    } else {
        if (scratch.GetSize() < pitch * sizeof(T)) {
            dav_fail("A reduction was given less temporary space than a row of its source takes.");
        }
        T* space = (T*)scratch.GetPhyAddr();
        if constexpr (IsSameType<Reduction, ProdReduction>::value) {
            for (uint32_t row = 0; row < shape[0]; ++row) {
                copy_ubuf_to_ubuf(space, src.pointer() + uint64_t(row) * pitch, 0, 1,
                                  uint16_t(pitch / block), 0, 0);
                pipe_barrier(PIPE_V);
                const T product = product_of_row(space, shape[1]);
                dst.SetValue(row, product);
                order_pipes<HardEvent::S_V>();
            }
            order_pipes<HardEvent::S_MTE3>();
        } else {
            reduce_rows<Reduction>(dst.pointer(), src.pointer(), space, shape[0], pitch, shape[1]);
        }
    }
}

#define ASC_REDUCTION(Name, Reduction)                                                \
    template <class T, class pattern, bool isReuseSource = false>                     \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, \
                                const LocalTensor<uint8_t>& sharedTmpBuffer,          \
                                const uint32_t srcShape[], bool srcInnerPad) {        \
        reduce_matrix<Reduction, pattern>(dst, src, sharedTmpBuffer, srcShape);       \
    }                                                                                 \
    template <class T, class pattern, bool isReuseSource = false>                     \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, \
                                const uint32_t srcShape[], bool srcInnerPad) {        \
        reduce_matrix<Reduction, pattern>(dst, src, free_scratch(), srcShape);        \
    }
ASC_REDUCTION(ReduceSum, SumReduction)
ASC_REDUCTION(ReduceMax, MaxReduction)
ASC_REDUCTION(ReduceMin, MinReduction)
ASC_REDUCTION(ReduceProd, ProdReduction)
#undef ASC_REDUCTION

template <class T, class pattern, bool isReuseSource = false>
__aicore__ inline void ReduceMean(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                  const LocalTensor<uint8_t>& sharedTmpBuffer,
                                  const uint32_t srcShape[], bool srcInnerPad) {
    constexpr bool inner = IsSameType<pattern, Pattern::Reduce::AR>::value;
    reduce_matrix<SumReduction, pattern>(dst, src, sharedTmpBuffer, srcShape);
    Muls(dst, dst, T(1.0f / float(srcShape[inner ? 1 : 0])), int32_t(srcShape[inner ? 0 : 1]));
    pipe_barrier(PIPE_V);
}
template <class T, class pattern, bool isReuseSource = false>
__aicore__ inline void ReduceMean(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                  const uint32_t srcShape[], bool srcInnerPad) {
    ReduceMean<T, pattern>(dst, src, free_scratch(), srcShape, srcInnerPad);
}

}  // namespace AscendC
