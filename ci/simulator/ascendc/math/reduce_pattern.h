// Reductions of a matrix along its last (AR) or its first axis (RA).
#pragma once

#include "activation.h"
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
        const uint32_t kept = ((columns + 1) / 2 + block - 1) / block * block;
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

// The length of rows that follow each other without padding must be whole blocks.
__aicore__ inline void check_inner_pad(uint32_t row_bytes, bool padded) {
    if (!padded && row_bytes % ONE_BLK_SIZE != 0) {
        dav_fail("A reduction takes rows of whole 32 bytes: srcInnerPad must be true for others.");
    }
}
#define ASC_REDUCTION(Name, Reduction)                                                \
    template <class T, class pattern, bool isReuseSource = false>                     \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, \
                                const LocalTensor<uint8_t>& sharedTmpBuffer,          \
                                const uint32_t srcShape[], bool srcInnerPad) {        \
        check_inner_pad(srcShape[1] * uint32_t(sizeof(T)), srcInnerPad);              \
        reduce_matrix<Reduction, pattern>(dst, src, sharedTmpBuffer, srcShape);       \
    }                                                                                 \
    template <class T, class pattern, bool isReuseSource = false>                     \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, \
                                const uint32_t srcShape[], bool srcInnerPad) {        \
        check_inner_pad(srcShape[1] * uint32_t(sizeof(T)), srcInnerPad);              \
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
    check_inner_pad(srcShape[1] * uint32_t(sizeof(T)), srcInnerPad);
    reduce_matrix<SumReduction, pattern>(dst, src, sharedTmpBuffer, srcShape);
    Muls(dst, dst, T(1.0f / float(srcShape[inner ? 1 : 0])), int32_t(srcShape[inner ? 0 : 1]));
    pipe_barrier(PIPE_V);
}
template <class T, class pattern, bool isReuseSource = false>
__aicore__ inline void ReduceMean(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                  const uint32_t srcShape[], bool srcInnerPad) {
    ReduceMean<T, pattern>(dst, src, free_scratch(), srcShape, srcInnerPad);
}

// ---- logic on zeros and ones: all are the least, any is the greatest
template <class Reduction, class pattern>
__aicore__ inline void reduce_bytes(const LocalTensor<uint8_t>& dst,
                                    const LocalTensor<uint8_t>& src,
                                    const LocalTensor<uint8_t>& scratch, const uint32_t shape[]) {
    const uint32_t pitch = align_to_block(shape[1]);
    const uint32_t wide = align_to_block(shape[1] * uint32_t(sizeof(half)));
    const bool inner = IsSameType<pattern, Pattern::Reduce::AR>::value;
    // A row of halves, and one of results or of what is combined with it.
    if (scratch.GetSize() < 2 * wide + ONE_BLK_SIZE) {
        dav_fail("A reduction of bytes was given less temporary space than two rows of halves.");
    }
    const LocalTensor<half> row = scratch.template ReinterpretCast<half>();
    const LocalTensor<half> other = scratch[wide].template ReinterpretCast<half>();
    for (uint32_t at = 0; at < shape[0]; ++at) {
        Cast(inner || at > 0 ? row : other, src[at * pitch], RoundMode::CAST_NONE, shape[1]);
        pipe_barrier(PIPE_V);
        if (inner) {
            reduce_rows<Reduction>(other.pointer(), row.pointer(), other.pointer(), 1,
                                   wide / uint32_t(sizeof(half)), shape[1]);
            order_pipes<HardEvent::V_S>();
            dst.SetValue(at, uint8_t(float(other.GetValue(0))));
            order_pipes<HardEvent::S_V>();
        } else if (at > 0) {
            const CounterMode mode(shape[1]);
            Reduction::combine(other.pointer(), other.pointer(), row.pointer());
            pipe_barrier(PIPE_V);
        }
    }
    if (inner) {
        order_pipes<HardEvent::S_MTE3>();
    } else {
        Cast(dst, other, RoundMode::CAST_NONE, shape[1]);
        pipe_barrier(PIPE_V);
    }
}
#define ASC_LOGIC_REDUCTION(Name, Reduction)                                               \
    template <class T, class pattern, bool isReuseSource = false>                          \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,      \
                                const LocalTensor<uint8_t>& sharedTmpBuffer,               \
                                const uint32_t srcShape[], bool srcInnerPad) {             \
        static_assert(SupportType<T, uint8_t, float>(), #Name " takes uint8_t and float"); \
        check_inner_pad(srcShape[1] * uint32_t(sizeof(T)), srcInnerPad);                   \
        if constexpr (IsSameType<T, float>::value)                                         \
            reduce_matrix<Reduction, pattern>(dst, src, sharedTmpBuffer, srcShape);        \
        else                                                                               \
            reduce_bytes<Reduction, pattern>(dst, src, sharedTmpBuffer, srcShape);         \
    }                                                                                      \
    template <class T, class pattern, bool isReuseSource = false>                          \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,      \
                                const uint32_t srcShape[], bool srcInnerPad) {             \
        Name<T, pattern, isReuseSource>(dst, src, free_scratch(), srcShape, srcInnerPad);  \
    }
ASC_LOGIC_REDUCTION(ReduceAll, MinReduction)
ASC_LOGIC_REDUCTION(ReduceAny, MaxReduction)
#undef ASC_LOGIC_REDUCTION

// The sum of src0 ^ src1, saturated to 16 bits. Sums of floats are exact up to 2^24.
template <typename T, bool isReuseSource = false>
__aicore__ inline void ReduceXorSum(LocalTensor<T>& dst, const LocalTensor<T>& src0,
                                    const LocalTensor<T>& src1,
                                    const LocalTensor<uint8_t>& sharedTmpBuffer,
                                    const uint32_t calCount) {
    static_assert(IsSameType<T, int16_t>::value, "ReduceXorSum takes int16_t");
    // Of each element a float, the word itself, and what Xor works in.
    const uint32_t pass = sharedTmpBuffer.GetSize() / (sizeof(float) + 2 * sizeof(T)) / 64 * 64;
    if (pass == 0) dav_fail("ReduceXorSum was given less than 512 bytes of temporary space.");
    const LocalTensor<float> wide = sharedTmpBuffer.template ReinterpretCast<float>();
    const LocalTensor<T> words =
        sharedTmpBuffer[pass * uint32_t(sizeof(float))].template ReinterpretCast<T>();
    const LocalTensor<uint8_t> space = sharedTmpBuffer[pass * uint32_t(sizeof(float) + sizeof(T))];
    float sum = 0;
    for (uint32_t done = 0; done < calCount; done += pass) {
        const uint32_t count = calCount - done < pass ? calCount - done : pass;
        Xor(words, src0[done], src1[done], space, count);
        Cast(wide, words, RoundMode::CAST_NONE, count);
        pipe_barrier(PIPE_V);
        set_mask_count();
        set_vector_mask(0, count);
        vcadd(wide.pointer(), wide.pointer(), 1, 1, 1, DEFAULT_REPEAT_STRIDE, true);
        set_mask_norm();
        ResetMask();
        order_pipes<HardEvent::V_S>();
        sum += accumulator_as<float>(get_acc_val());
        order_pipes<HardEvent::S_V>();
    }
    const float held = sum > 32767.0f ? 32767.0f : sum < -32768.0f ? -32768.0f : sum;
    store_scalar_result(dst.pointer(), T(held));
}
template <typename T, bool isReuseSource = false>
__aicore__ inline void ReduceXorSum(LocalTensor<T>& dst, const LocalTensor<T>& src0,
                                    const LocalTensor<T>& src1, const uint32_t calCount) {
    ReduceXorSum(dst, src0, src1, free_scratch(), calCount);
}

}  // namespace AscendC
