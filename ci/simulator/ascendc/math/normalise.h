// LayerNorm and RmsNorm over the rows of a matrix, computed in single precision row by row.
#pragma once

#include "../kernel_tiling/kernel_tiling.h"
#include "reduce.h"

namespace AscendC {

struct LayerNormConfig {
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
    bool isOutputRstd = true;
};
constexpr LayerNormConfig LNCFG_NORM{};
struct LayerNormPara {
    uint32_t aLength;
    uint32_t rLength;
    uint32_t rLengthWithPadding;
};

// The sum of a row; `work` takes one element a repeat.
__aicore__ inline float row_total(float* row, uint32_t columns, float* work) {
    set_mask_count();
    set_vector_mask(0, columns);
    vcadd(work, row, 1, 1, 1, DEFAULT_REPEAT_STRIDE, true);
    order_pipes<HardEvent::V_S>();
    const float total = accumulator_as<float>(get_acc_val());
    order_pipes<HardEvent::S_V>();
    set_mask_norm();
    ResetMask();
    return total;
}

// A row as it is, or between single precision and its own type.
template <typename D, typename S>
__aicore__ inline void copy_row(const FloatSteps& s, D* dst, S* src) {
    if constexpr (IsSameType<D, S>::value)
        s.adds(dst, src, 0.0f);
    else if constexpr (IsSameType<D, float>::value)
        s.widen(dst, src);
    else
        s.narrow(dst, src, RoundMode::CAST_RINT);
}

// Five float rows: the row itself, its squares, gamma, beta, and partial sums.
class RowNormaliser {
public:
    __aicore__ RowNormaliser(const LocalTensor<uint8_t>& scratch, uint32_t columns)
        : columns_(columns) {
        const uint32_t pitch = (columns + 63) / 64 * 64;
        if (scratch.GetSize() < 5 * pitch * sizeof(float)) {
            dav_fail("A normalisation was given less temporary space than five rows of floats.");
        }
        row_ = reinterpret_cast<float*>(scratch.GetPhyAddr());
        squares_ = row_ + pitch;
        gamma_ = squares_ + pitch;
        beta_ = gamma_ + pitch;
        work_ = beta_ + pitch;
    }
    template <typename U> __aicore__ void take_gamma(U* gamma) { gamma_ = widened(gamma_, gamma); }
    template <typename U> __aicore__ void take_beta(U* beta) { beta_ = widened(beta_, beta); }
    template <typename T> __aicore__ void load(T* src) {
        const FloatSteps s(columns_);
        copy_row(s, row_, src);
    }
    // The row times `factor`, and another.
    template <typename T> __aicore__ void add(T* other, float factor) {
        const FloatSteps s(columns_);
        s.muls(row_, row_, factor);
        s.add(row_, row_, s.wide(other, squares_));
    }
    // The mean, which is taken away from the row.
    __aicore__ float centre() {
        const float mean = row_total(row_, columns_, work_) / float(columns_);
        const FloatSteps s(columns_);
        s.adds(row_, row_, -mean);
        return mean;
    }
    __aicore__ float mean_square() {
        {
            const FloatSteps s(columns_);
            s.mul(squares_, row_, row_);
        }
        return row_total(squares_, columns_, work_) / float(columns_);
    }
    template <bool gamma, bool beta, typename T> __aicore__ void store(T* dst, float factor) {
        const FloatSteps s(columns_);
        s.muls(row_, row_, factor);
        if constexpr (gamma) s.mul(row_, row_, gamma_);
        if constexpr (beta) s.add(row_, row_, beta_);
        copy_row(s, dst, row_);
    }

private:
    template <typename U> __aicore__ float* widened(float* space, U* values) {
        if constexpr (IsSameType<U, float>::value) {
            return values;
        } else {
            const FloatSteps s(columns_);
            s.widen(space, values);
            return space;
        }
    }

    uint32_t columns_;
    float* row_;
    float* squares_;
    float* gamma_;
    float* beta_;
    float* work_;
};

// `spread` takes the variance, or the inverse of the standard deviation.
template <typename T, typename U, typename M, bool gamma, bool beta, bool inverse>
__aicore__ inline void layer_norm(const LocalTensor<T>& output, const LocalTensor<M>& mean,
                                  const LocalTensor<M>& spread, const LocalTensor<T>& src,
                                  const LocalTensor<U>& gammas, const LocalTensor<U>& betas,
                                  const LocalTensor<uint8_t>& scratch, float epsilon,
                                  const LayerNormPara& shape) {
    RowNormaliser rows(scratch, shape.rLength);
    if constexpr (gamma) rows.take_gamma(gammas.pointer());
    if constexpr (beta) rows.take_beta(betas.pointer());
    for (uint32_t row = 0; row < shape.aLength; ++row) {
        const uint64_t at = uint64_t(row) * shape.rLengthWithPadding;
        rows.load(src.pointer() + at);
        const float average = rows.centre();
        const float variance = rows.mean_square();
        const float factor = 1.0f / sqrtf(variance + epsilon);
        mean.SetValue(row, M(average));
        spread.SetValue(row, M(inverse ? factor : variance));
        rows.template store<gamma, beta>(output.pointer() + at, factor);
    }
    order_pipes<HardEvent::S_V>();
    order_pipes<HardEvent::S_MTE3>();
}

template <typename T, bool isReuseSource = false>
__aicore__ inline void LayerNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,
                                 const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX,
                                 const LocalTensor<T>& gamma, const LocalTensor<T>& beta,
                                 const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon,
                                 const LayerNormTiling& tiling) {
    const LayerNormPara shape{tiling.bLength * tiling.sLength, tiling.originalHLength,
                              tiling.hLength};
    layer_norm<T, T, T, true, true, false>(output, outputMean, outputVariance, inputX, gamma, beta,
                                           sharedTmpBuffer, float(epsilon), shape);
}
template <typename T, bool isReuseSource = false>
__aicore__ inline void LayerNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,
                                 const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX,
                                 const LocalTensor<T>& gamma, const LocalTensor<T>& beta,
                                 const T epsilon, const LayerNormTiling& tiling) {
    LayerNorm<T, isReuseSource>(output, outputMean, outputVariance, inputX, gamma, beta,
                                free_scratch(), epsilon, tiling);
}
template <typename U, typename T, bool isReuseSource = false,
          const LayerNormConfig& config = LNCFG_NORM>
__aicore__ inline void LayerNorm(const LocalTensor<T>& output, const LocalTensor<float>& outputMean,
                                 const LocalTensor<float>& outputRstd, const LocalTensor<T>& inputX,
                                 const LocalTensor<U>& gamma, const LocalTensor<U>& beta,
                                 const float epsilon, const LocalTensor<uint8_t>& sharedTmpBuffer,
                                 const LayerNormPara& para, const LayerNormSeparateTiling&) {
    static_assert(!config.isOnlyOutput, "LayerNorm gives mean and deviation, too");
    layer_norm<T, U, float, !config.isNoGamma, !config.isNoBeta, config.isOutputRstd>(
        output, outputMean, outputRstd, inputX, gamma, beta, sharedTmpBuffer, epsilon, para);
}
template <typename U, typename T, bool isReuseSource = false,
          const LayerNormConfig& config = LNCFG_NORM>
__aicore__ inline void LayerNorm(const LocalTensor<T>& output, const LocalTensor<float>& outputMean,
                                 const LocalTensor<float>& outputRstd, const LocalTensor<T>& inputX,
                                 const LocalTensor<U>& gamma, const LocalTensor<U>& beta,
                                 const float epsilon, const LayerNormPara& para,
                                 const LayerNormSeparateTiling& tiling) {
    LayerNorm<U, T, isReuseSource, config>(output, outputMean, outputRstd, inputX, gamma, beta,
                                           epsilon, free_scratch(), para, tiling);
}

template <typename T, bool isBasicBlock = false>
__aicore__ inline void RmsNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                               const LocalTensor<T>& gammaLocal,
                               const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon,
                               const RmsNormTiling& tiling) {
    RowNormaliser rows(sharedTmpBuffer, tiling.originalHLength);
    rows.take_gamma(gammaLocal.pointer());
    for (uint32_t row = 0; row < tiling.bLength * tiling.sLength; ++row) {
        const uint64_t at = uint64_t(row) * tiling.hLength;
        rows.load(srcLocal.pointer() + at);
        const float factor = 1.0f / sqrtf(rows.mean_square() + float(epsilon));
        rows.template store<true, false>(dstLocal.pointer() + at, factor);
    }
}
template <typename T, bool isBasicBlock = false>
__aicore__ inline void RmsNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                               const LocalTensor<T>& gammaLocal, const T epsilon,
                               const RmsNormTiling& tiling) {
    RmsNorm<T, isBasicBlock>(dstLocal, srcLocal, gammaLocal, free_scratch(), epsilon, tiling);
}

}  // namespace AscendC
