// SoftMax in parts: with maxima and sums carried from one part of the rows to the next, with both
// given, and its gradient. Each row has one 32-byte block for its maximum, sum and factor.
#pragma once

#include "activation.h"
#include "softmax.h"

namespace AscendC {

// Whether sums and maxima take a block of 32 bytes a row, or one element.
enum class SoftmaxMode { SOFTMAX_NORMAL = 0, SOFTMAX_OUTPUT_WITHOUT_BRC = 1 };
struct SoftmaxConfig {
    bool isCheckTiling = true;
    uint32_t oriSrcM = 0;
    uint32_t oriSrcK = 0;
    SoftmaxMode mode = SoftmaxMode::SOFTMAX_NORMAL;
};
constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG = {true, 0, 0, SoftmaxMode::SOFTMAX_NORMAL};

// A split of the rows by the space at hand, made on the device.
__aicore__ inline constexpr SoftMaxTiling SoftMaxFlashV2TilingFunc(
    const SoftMaxShapeInfo& shapeInfo, const uint32_t, const uint32_t dataTypeSize2,
    const uint32_t localWorkSpaceSize, const bool = false, const bool = false, const bool = false,
    const bool = false) {
    const uint32_t rows = shapeInfo.srcM;
    const uint32_t columns = shapeInfo.srcK;
    const uint32_t block = ONE_BLK_SIZE / dataTypeSize2;
    const uint32_t row_bytes = columns * uint32_t(sizeof(float)) + ONE_BLK_SIZE + 256;
    uint32_t split = localWorkSpaceSize / row_bytes;
    if (split < 1) split = 1;
    if (split > rows && rows > 0) split = rows;
    SoftMaxTiling tiling{};
    tiling.srcM = tiling.outMaxM = rows;
    tiling.srcK = tiling.splitK = columns;
    tiling.srcSize = rows * columns;
    tiling.outMaxK = tiling.reduceK = block;
    tiling.outMaxSize = rows * block;
    tiling.splitM = tiling.reduceM = split;
    tiling.splitSize = split * columns;
    tiling.reduceSize = split * block;
    tiling.rangeM = rows / split;
    tiling.tailM = rows % split;
    tiling.tailSplitSize = tiling.tailM * columns;
    tiling.tailReduceSize = tiling.tailM * block;
    return tiling;
}
// The form that kernels know: rows and columns, and the space in elements.
__aicore__ inline constexpr SoftMaxTiling SoftMaxFlashV2TilingFuncImpl(
    const uint32_t rows, const uint32_t columns, const uint32_t size1, const uint32_t size2,
    const uint32_t space, const bool isUpdate = false, const bool isBasicBlock = false,
    const bool isDataFormatNZ = false, const bool isFlashOutputBrc = false) {
    return SoftMaxFlashV2TilingFunc(SoftMaxShapeInfo{rows, columns, rows, columns}, size1, size2,
                                    space * size2, isUpdate, isBasicBlock, isDataFormatNZ,
                                    isFlashOutputBrc);
}

// A row as floats: where it lies, or its copy in `space`.
template <typename T> __aicore__ inline float* wide_row(T* row, float* space, uint32_t columns) {
    if constexpr (IsSameType<T, float>::value) {
        return row;
    } else {
        const FloatSteps s(columns);
        s.widen(space, row);
        return space;
    }
}
template <typename T> __aicore__ inline void store_row(T* row, float* from, uint32_t columns) {
    if constexpr (!IsSameType<T, float>::value) {
        const FloatSteps s(columns);
        s.narrow(row, from, RoundMode::CAST_RINT);
    }
}
// The largest of a row; `work` holds columns / 64 + 64 elements.
__aicore__ inline float largest(float* row, uint32_t columns, float* work) {
    float* from = row;
    uint32_t left = columns;
    set_mask_count();
    do {
        set_vector_mask(0, left);
        vcmax(work, from, 1, 1, 1, DEFAULT_REPEAT_STRIDE, ONLY_VALUE);
        pipe_barrier(PIPE_V);
        from = work;
        left = (left + 63) / 64;
    } while (left > 1);
    set_mask_norm();
    set_vector_mask(FULL_MASK, FULL_MASK);
    order_pipes<HardEvent::V_S>();
    return load_scalar_result(work);
}
__aicore__ inline float total(float* row, uint32_t columns, float* work) {
    set_mask_count();
    set_vector_mask(0, columns);
    vcadd(work, row, 1, 1, 1, DEFAULT_REPEAT_STRIDE, true);
    set_mask_norm();
    set_vector_mask(FULL_MASK, FULL_MASK);
    order_pipes<HardEvent::V_S>();
    return accumulator_as<float>(get_acc_val());
}
// Fills row `row`'s block of a tensor with one value, or its one element.
template <typename T>
__aicore__ inline void fill_block(T* tensor, uint32_t row, float value, bool one = false) {
    if (one) {
        order_pipes<HardEvent::V_S>();
        dav_scalar_store(tensor + row, sizeof(T));
        tensor[row] = T(value);
        order_pipes<HardEvent::S_V>();
        return;
    }
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    AscendCUtils::SetMask<T>(int32_t(block));
    vector_dup(tensor + row * block, T(value), 1, 1, 1, DEFAULT_REPEAT_STRIDE, 0);
    set_vector_mask(FULL_MASK, FULL_MASK);
    pipe_barrier(PIPE_V);
}
template <typename T>
__aicore__ inline float block_value(T* tensor, uint32_t row, bool one = false) {
    return float(load_scalar_result(tensor + row * (one ? 1 : ONE_BLK_SIZE / sizeof(T))));
}
__aicore__ inline float scalar_exp(float x, float* work) {
    fill_block(work, 0, x);
    AscendCUtils::SetMask<float>(8);
    vexp(work, work, 1, 1, 1, 8, 8);
    set_vector_mask(FULL_MASK, FULL_MASK);
    order_pipes<HardEvent::V_S>();
    return load_scalar_result(work);
}

// What the flash forms share; `divided`: the first form, whose rows are divided by their sum;
// `one`: sums and maxima take one element a row. `row_max` gets the maxima of these rows alone.
template <bool update, bool divided, bool one = false, typename T, typename U>
__aicore__ inline void run_softmax_flash(const LocalTensor<T>& dst, const LocalTensor<U>& sum,
                                         const LocalTensor<U>& max, const LocalTensor<T>& src,
                                         const LocalTensor<T>& factor, const LocalTensor<U>& in_sum,
                                         const LocalTensor<U>& in_max,
                                         const LocalTensor<uint8_t>& scratch,
                                         const SoftMaxShapeInfo& shape, U* row_max = nullptr) {
    const uint32_t columns = shape.oriSrcK;
    const uint32_t wide = IsSameType<T, float>::value ? 0 : (columns + 63) / 64 * 64;
    const uint32_t work_elements = repeats_space(columns);
    if (scratch.GetSize() < (wide + work_elements) * sizeof(float)) {
        dav_fail("SoftmaxFlash was given too little temporary space for one row.");
    }
    float* work = reinterpret_cast<float*>(scratch.GetPhyAddr());
    float* space = work + work_elements;
    for (uint32_t row = 0; row < shape.srcM; ++row) {
        float* from = wide_row(src.pointer() + row * shape.srcK, space, columns);
        float* to = IsSameType<T, float>::value
                        ? reinterpret_cast<float*>(dst.pointer()) + row * shape.srcK
                        : space;
        float high = largest(from, columns, work);
        float carried = 0.0f;
        float before = 0.0f;
        if constexpr (update) {
            if (row_max != nullptr) fill_block(row_max, row, high, one);
            const float old = block_value(in_max.pointer(), row, one);
            before = block_value(in_sum.pointer(), row, one);
            if (old > high) high = old;
            carried = scalar_exp(old - high, work);
        }
        order_pipes<HardEvent::S_V>();
        {
            const FloatSteps s(columns);
            s.adds(to, from, -high);
            s.exp(to, to);
        }
        float row_sum = total(to, columns, work);
        if constexpr (update) row_sum += carried * before;
        order_pipes<HardEvent::S_V>();
        if constexpr (divided) {
            const FloatSteps s(columns);
            s.muls(to, to, 1.0f / row_sum);
        }
        store_row(dst.pointer() + row * shape.srcK, to, columns);
        fill_block(max.pointer(), row, high, one);
        fill_block(sum.pointer(), row, row_sum, one);
        if constexpr (update) {
            fill_block(factor.pointer(), row, divided ? carried * before / row_sum : carried, one);
        }
    }
}

template <typename T, bool isReuseSource = false, bool isBasicBlock = false, typename U>
__aicore__ inline void SoftmaxFlash(const LocalTensor<T>& dst, const LocalTensor<U>& sum,
                                    const LocalTensor<U>& max, const LocalTensor<T>& src,
                                    const LocalTensor<T>& expMax, const LocalTensor<U>& inSum,
                                    const LocalTensor<U>& inMax,
                                    const LocalTensor<uint8_t>& sharedTmpBuffer,
                                    const SoftMaxTiling& tiling, bool isUpdate = false,
                                    const SoftMaxShapeInfo& info = {}) {
    const SoftMaxShapeInfo shape = softmax_shape(info, tiling);
    if (isUpdate) {
        run_softmax_flash<true, true>(dst, sum, max, src, expMax, inSum, inMax, sharedTmpBuffer,
                                      shape);
    } else {
        run_softmax_flash<false, true>(dst, sum, max, src, expMax, inSum, inMax, sharedTmpBuffer,
                                       shape);
    }
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, typename U>
__aicore__ inline void SoftmaxFlash(const LocalTensor<T>& dst, const LocalTensor<U>& sum,
                                    const LocalTensor<U>& max, const LocalTensor<T>& src,
                                    const LocalTensor<T>& expMax, const LocalTensor<U>& inSum,
                                    const LocalTensor<U>& inMax, const SoftMaxTiling& tiling,
                                    bool isUpdate = false, const SoftMaxShapeInfo& info = {}) {
    SoftmaxFlash<T>(dst, sum, max, src, expMax, inSum, inMax, free_scratch(), tiling, isUpdate,
                    info);
}
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG,
          typename U>
__aicore__ inline void SoftmaxFlashV2(const LocalTensor<T>& dst, const LocalTensor<U>& expSum,
                                      const LocalTensor<U>& max, const LocalTensor<T>& src,
                                      const LocalTensor<T>& expMax, const LocalTensor<U>& inExpSum,
                                      const LocalTensor<U>& inMax,
                                      const LocalTensor<uint8_t>& sharedTmpBuffer,
                                      const SoftMaxTiling& tiling,
                                      const SoftMaxShapeInfo& info = {}) {
    static_assert(!isDataFormatNZ, "SoftmaxFlashV2 takes row-major matrices");
    constexpr bool one = config.mode == SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC;
    run_softmax_flash<isUpdate, false, one>(dst, expSum, max, src, expMax, inExpSum, inMax,
                                            sharedTmpBuffer, softmax_shape(info, tiling));
}
// With the maxima of these rows alone, besides those with what came before.
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
__aicore__ inline void SoftmaxFlashV2(const LocalTensor<T>& dst, const LocalTensor<T>& outReduceMax,
                                      const LocalTensor<T>& outExpSum, const LocalTensor<T>& outMax,
                                      const LocalTensor<T>& src, const LocalTensor<T>& outExpMax,
                                      const LocalTensor<T>& inExpSum, const LocalTensor<T>& inMax,
                                      const LocalTensor<uint8_t>& sharedTmpBuffer,
                                      const SoftMaxTiling& tiling,
                                      const SoftMaxShapeInfo& info = {}) {
    static_assert(!isDataFormatNZ, "SoftmaxFlashV2 takes row-major matrices");
    constexpr bool one = config.mode == SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC;
    run_softmax_flash<isUpdate, false, one>(dst, outExpSum, outMax, src, outExpMax, inExpSum, inMax,
                                            sharedTmpBuffer, softmax_shape(info, tiling),
                                            outReduceMax.pointer());
}
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG,
          typename U>
__aicore__ inline void SoftmaxFlashV2(const LocalTensor<T>& dst, const LocalTensor<U>& expSum,
                                      const LocalTensor<U>& max, const LocalTensor<T>& src,
                                      const LocalTensor<T>& expMax, const LocalTensor<U>& inExpSum,
                                      const LocalTensor<U>& inMax, const SoftMaxTiling& tiling,
                                      const SoftMaxShapeInfo& info = {}) {
    SoftmaxFlashV2<T, isUpdate, isReuseSource, isBasicBlock, isDataFormatNZ, config>(
        dst, expSum, max, src, expMax, inExpSum, inMax, free_scratch(), tiling, info);
}

// e^(x - max) / sum, with both given.
template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG,
          typename U>
__aicore__ inline void SimpleSoftMax(const LocalTensor<T>& dst, const LocalTensor<U>& inSum,
                                     const LocalTensor<U>& inMax, const LocalTensor<T>& src,
                                     const LocalTensor<uint8_t>& sharedTmpBuffer,
                                     const SoftMaxTiling& tiling,
                                     const SoftMaxShapeInfo& info = {}) {
    static_assert(!isDataFormatNZ, "SimpleSoftMax takes row-major matrices");
    const SoftMaxShapeInfo shape = softmax_shape(info, tiling);
    const uint32_t columns = shape.oriSrcK;
    float* space = reinterpret_cast<float*>(sharedTmpBuffer.GetPhyAddr());
    if (!IsSameType<T, float>::value &&
        sharedTmpBuffer.GetSize() < (columns + 63) / 64 * 64 * sizeof(float)) {
        dav_fail("SimpleSoftMax was given too little temporary space for one row.");
    }
    order_pipes<HardEvent::V_S>();
    for (uint32_t row = 0; row < shape.srcM; ++row) {
        const float high = block_value(inMax.pointer(), row);
        const float inverse = 1.0f / block_value(inSum.pointer(), row);
        order_pipes<HardEvent::S_V>();
        float* from = wide_row(src.pointer() + row * shape.srcK, space, columns);
        float* to = IsSameType<T, float>::value
                        ? reinterpret_cast<float*>(dst.pointer()) + row * shape.srcK
                        : space;
        {
            const FloatSteps s(columns);
            s.adds(to, from, -high);
            s.exp(to, to);
            s.muls(to, to, inverse);
        }
        store_row(dst.pointer() + row * shape.srcK, to, columns);
    }
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG,
          typename U>
__aicore__ inline void SimpleSoftMax(const LocalTensor<T>& dst, const LocalTensor<U>& inSum,
                                     const LocalTensor<U>& inMax, const LocalTensor<T>& src,
                                     const SoftMaxTiling& tiling,
                                     const SoftMaxShapeInfo& info = {}) {
    SimpleSoftMax<T, isReuseSource, isBasicBlock, isDataFormatNZ, config>(
        dst, inSum, inMax, src, free_scratch(), tiling, info);
}

// (grad - sum(grad src)) src; in front only: the sums, a block a row.
template <typename T>
__aicore__ inline void run_softmax_grad(const LocalTensor<T>& dst, const LocalTensor<T>& grad,
                                        const LocalTensor<T>& src,
                                        const LocalTensor<uint8_t>& scratch, bool front,
                                        const SoftMaxShapeInfo& shape) {
    const uint32_t columns = shape.oriSrcK;
    const uint32_t rounded = (columns + 63) / 64 * 64;
    const uint32_t buffers = IsSameType<T, float>::value ? 1 : 3;
    if (scratch.GetSize() < (buffers * rounded + 64) * sizeof(float)) {
        dav_fail("SoftmaxGrad was given too little temporary space for one row.");
    }
    float* work = reinterpret_cast<float*>(scratch.GetPhyAddr());
    float* product = work + 64;
    for (uint32_t row = 0; row < shape.srcM; ++row) {
        float* g = wide_row(grad.pointer() + row * shape.srcK, product + rounded, columns);
        float* y = wide_row(src.pointer() + row * shape.srcK, product + 2 * rounded, columns);
        {
            const FloatSteps s(columns);
            s.mul(product, g, y);
        }
        const float row_sum = total(product, columns, work);
        order_pipes<HardEvent::S_V>();
        if (front) {
            fill_block(dst.pointer(), row, row_sum);
            continue;
        }
        float* to = IsSameType<T, float>::value
                        ? reinterpret_cast<float*>(dst.pointer()) + row * shape.srcK
                        : product;
        {
            const FloatSteps s(columns);
            s.adds(product, g, -row_sum);
            s.mul(to, product, y);
        }
        store_row(dst.pointer() + row * shape.srcK, to, columns);
    }
}
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
__aicore__ inline void SoftmaxGrad(const LocalTensor<T>& dst, const LocalTensor<T>& grad,
                                   const LocalTensor<T>& src,
                                   const LocalTensor<uint8_t>& sharedTmpBuffer,
                                   const SoftMaxTiling& tiling, bool isFront = false,
                                   const SoftMaxShapeInfo& info = {}) {
    static_assert(!isDataFormatNZ, "SoftmaxGrad takes row-major matrices");
    run_softmax_grad(dst, grad, src, sharedTmpBuffer, isFront, softmax_shape(info, tiling));
}
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
__aicore__ inline void SoftmaxGrad(const LocalTensor<T>& dst, const LocalTensor<T>& grad,
                                   const LocalTensor<T>& src, const SoftMaxTiling& tiling,
                                   bool isFront = false, const SoftMaxShapeInfo& info = {}) {
    SoftmaxGrad<T, isReuseSource, isDataFormatNZ>(dst, grad, src, free_scratch(), tiling, isFront,
                                                  info);
}
template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false>
__aicore__ inline void SoftmaxGradFront(const LocalTensor<T>& dst, const LocalTensor<T>& grad,
                                        const LocalTensor<T>& src,
                                        const LocalTensor<uint8_t>& sharedTmpBuffer,
                                        const SoftMaxTiling& tiling,
                                        const SoftMaxShapeInfo& info = {}) {
    SoftmaxGrad<T, false, isDataFormatNZ>(dst, grad, src, sharedTmpBuffer, tiling, true, info);
}
template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false>
__aicore__ inline void SoftmaxGradFront(const LocalTensor<T>& dst, const LocalTensor<T>& grad,
                                        const LocalTensor<T>& src, const SoftMaxTiling& tiling,
                                        const SoftMaxShapeInfo& info = {}) {
    SoftmaxGrad<T, false, isDataFormatNZ>(dst, grad, src, tiling, true, info);
}

}  // namespace AscendC
