// SoftMax over the rows of a matrix, whole and in the pieces that it is made of.
#pragma once

#include "../kernel_tiling/kernel_tiling.h"
#include "reduce.h"

namespace AscendC {

struct SoftMaxShapeInfo {
    uint32_t srcM{0};
    uint32_t srcK{0};  // columns a row takes, a multiple of 32 bytes
    uint32_t oriSrcM{0};
    uint32_t oriSrcK{0};  // columns that count
};

// Shapes of the toolkit's inner steps, which kernels name and pass to no call of ours.
struct LastAxisShapeND {
    uint32_t m;
    uint32_t k;
};
struct ReduceLastND {
    uint32_t originalSrcM;
    uint32_t originalSrcK;
    uint32_t srcM;
    uint32_t srcK;
    uint32_t dstM;
    uint32_t dstK;
};

// Floats that hold one value of each repeat of a row.
__aicore__ constexpr uint32_t repeats_space(uint32_t columns) {
    return ((columns + 63) / 64 + 7) / 8 * 8;
}

// One row of floats: max, e^(x - max), sum, quotient. `work` holds `repeats_space` elements; dst
// may be src. The maximum and the sum of the row are left in `row_max`, `row_sum`.
__aicore__ inline void softmax_row(float* dst, float* src, uint32_t columns, float* work,
                                   float& row_max, float& row_sum) {
    constexpr uint32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(float);
    float* from = src;
    uint32_t left = columns;
    set_mask_count();
    do {
        set_vector_mask(0, left);
        vcmax(work, from, 1, 1, 1, DEFAULT_REPEAT_STRIDE, ONLY_VALUE);
        pipe_barrier(PIPE_V);
        from = work;
        left = (left + whole - 1) / whole;
    } while (left > 1);
    order_pipes<HardEvent::V_S>();
    row_max = load_scalar_result(work);
    order_pipes<HardEvent::S_V>();
    set_vector_mask(0, columns);
    vadds(dst, src, -row_max, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vexp(dst, dst, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vcadd(work, dst, 1, 1, 1, DEFAULT_REPEAT_STRIDE, true);
    order_pipes<HardEvent::V_S>();
    row_sum = accumulator_as<float>(get_acc_val());
    vmuls(dst, dst, 1.0f / row_sum, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    set_mask_norm();
    set_vector_mask(FULL_MASK, FULL_MASK);
}

__aicore__ inline void decimal_logarithm(float* row, uint32_t columns) {
    const FloatSteps s(columns);
    Log10Operation::run(s, row, row, nullptr, 0);
}
template <bool logarithm = false, typename T, typename U>
__aicore__ inline void run_softmax(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                   const LocalTensor<uint8_t>& scratch, uint32_t rows,
                                   uint32_t pitch, uint32_t columns, U* maxima, U* sums,
                                   uint32_t per_row) {
    const uint32_t wide = IsSameType<T, float>::value ? 0 : (columns + 63) / 64 * 64;
    const uint32_t work = repeats_space(columns);
    if (scratch.GetSize() < (wide + work) * sizeof(float)) {
        dav_fail("SoftMax was given too little temporary space for one row.");
    }
    float* space = reinterpret_cast<float*>(scratch.GetPhyAddr());
    for (uint32_t row = 0; row < rows; ++row) {
        float row_max;
        float row_sum;
        if constexpr (IsSameType<T, float>::value) {
            float* to = dst.pointer() + row * pitch;
            softmax_row(to, src.pointer() + row * pitch, columns, space, row_max, row_sum);
            if constexpr (logarithm) decimal_logarithm(to, columns);
        } else {
            {
                const FloatSteps s(columns);
                s.widen(space + work, src.pointer() + row * pitch);
            }
            softmax_row(space + work, space + work, columns, space, row_max, row_sum);
            if constexpr (logarithm) decimal_logarithm(space + work, columns);
            const FloatSteps s(columns);
            s.narrow(dst.pointer() + row * pitch, space + work, RoundMode::CAST_RINT);
        }
        for (uint32_t i = 0; i < per_row; ++i) {
            dav_scalar_store(maxima + row * per_row + i, sizeof(U));
            maxima[row * per_row + i] = U(row_max);
            dav_scalar_store(sums + row * per_row + i, sizeof(U));
            sums[row * per_row + i] = U(row_sum);
        }
    }
}
// The shape: given, or all rows that the tiling was made for.
__aicore__ inline SoftMaxShapeInfo softmax_shape(const SoftMaxShapeInfo& given,
                                                 const SoftMaxTiling& tiling) {
    if (given.srcM != 0) return given;
    return {tiling.srcM, tiling.srcK, tiling.srcM, tiling.srcK};
}

template <typename T, bool isReuseSource = false, bool isBasicBlock = false>
__aicore__ inline void SoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                               const LocalTensor<uint8_t>& sharedTmpBuffer,
                               const SoftMaxTiling& tiling, const SoftMaxShapeInfo& info = {}) {
    const SoftMaxShapeInfo shape = softmax_shape(info, tiling);
    run_softmax<false, T, float>(dst, src, sharedTmpBuffer, shape.srcM, shape.srcK, shape.oriSrcK,
                                 nullptr, nullptr, 0);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false>
__aicore__ inline void SoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                               const SoftMaxTiling& tiling, const SoftMaxShapeInfo& info = {}) {
    SoftMax<T>(dst, src, free_scratch(), tiling, info);
}
// With a block of 32 bytes a row for its maximum and one for its sum, of the source's type or
// floats.
template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, typename U>
__aicore__ inline void SoftMax(const LocalTensor<T>& dst, const LocalTensor<U>& sum,
                               const LocalTensor<U>& max, const LocalTensor<T>& src,
                               const LocalTensor<uint8_t>& sharedTmpBuffer,
                               const SoftMaxTiling& tiling, const SoftMaxShapeInfo& info = {}) {
    static_assert(!isDataFormatNZ, "SoftMax takes row-major matrices");
    static_assert(IsSameType<U, T>::value || IsSameType<U, float>::value);
    const SoftMaxShapeInfo shape = softmax_shape(info, tiling);
    run_softmax(dst, src, sharedTmpBuffer, shape.srcM, shape.srcK, shape.oriSrcK, max.pointer(),
                sum.pointer(), ONE_BLK_SIZE / uint32_t(sizeof(U)));
    order_pipes<HardEvent::S_V>();
    order_pipes<HardEvent::S_MTE3>();
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, typename U>
__aicore__ inline void SoftMax(const LocalTensor<T>& dst, const LocalTensor<U>& sum,
                               const LocalTensor<U>& max, const LocalTensor<T>& src,
                               const SoftMaxTiling& tiling, const SoftMaxShapeInfo& info = {}) {
    SoftMax<T, isReuseSource, isBasicBlock, isDataFormatNZ>(dst, sum, max, src, free_scratch(),
                                                            tiling, info);
}

// The decimal logarithm of the quotients.
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
__aicore__ inline void LogSoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& sum,
                                  const LocalTensor<T>& max, const LocalTensor<T>& src,
                                  const LocalTensor<uint8_t>& sharedTmpBuffer,
                                  const LogSoftMaxTiling& tiling,
                                  const SoftMaxShapeInfo& softmaxShapeInfo = {}) {
    static_assert(!isDataFormatNZ, "LogSoftMax takes row-major matrices");
    SoftMaxShapeInfo shape = softmaxShapeInfo;
    if (shape.srcM == 0) shape = {tiling.srcM, tiling.srcK, tiling.srcM, tiling.srcK};
    run_softmax<true>(dst, src, sharedTmpBuffer, shape.srcM, shape.srcK, shape.oriSrcK,
                      max.pointer(), sum.pointer(), ONE_BLK_SIZE / uint32_t(sizeof(T)));
    order_pipes<HardEvent::S_V>();
    order_pipes<HardEvent::S_MTE3>();
}

// Rows whose maximum has the bits `from` become `to`; answers whether there are any. The maximum is
// the first element of a block a row, or one element a row (stepSizeMode).
template <typename T1, typename T2, bool isDataFormatNZ = false, uint8_t stepSizeMode = 0>
__aicore__ inline bool AdjustSoftMaxRes(const LocalTensor<T1>& softMaxRes,
                                        const LocalTensor<T2>& maxTensor, const uint32_t from,
                                        const T1 to, const SoftMaxShapeInfo& softmaxShapeInfo) {
    static_assert(!isDataFormatNZ, "AdjustSoftMaxRes takes row-major matrices");
    constexpr uint32_t step = stepSizeMode == 0 ? ONE_BLK_SIZE / sizeof(T2) : 1;
    using Bits = BitsType<T2>;
    const auto wanted = Bits(from);
    bool any = false;
    order_pipes<HardEvent::V_S>();
    for (uint32_t row = 0; row < softmaxShapeInfo.srcM; ++row) {
        const auto bits = maxTensor.template ReinterpretCast<Bits>().GetValue(row * step);
        if (bits != wanted) continue;
        any = true;
        order_pipes<HardEvent::S_V>();
        Duplicate(softMaxRes[row * softmaxShapeInfo.srcK], to, int32_t(softmaxShapeInfo.srcK));
        pipe_barrier(PIPE_V);
    }
    return any;
}

}  // namespace AscendC
