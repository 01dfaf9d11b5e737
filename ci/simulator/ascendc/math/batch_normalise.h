// Normalisations besides LayerNorm and RmsNorm: of a batch, of groups of channels, of a sum
// (DeepNorm), with given moments, and the end of Welford's running moments. All in single
// precision.
#pragma once

#include "normalise.h"

namespace AscendC {

// Floats that the scalar unit may read, copied by the vector pipe: that orders them behind the
// input.
template <typename T> __aicore__ inline void take_scalars(float* dst, T* src, uint32_t count) {
    {
        const FloatSteps s(count);
        copy_row(s, dst, src);
    }
    order_pipes<HardEvent::V_S>();
}
// One of them; `work` takes a block.
__aicore__ inline float vector_scalar(float* values, uint32_t at, float* work) {
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(float);
    take_scalars(work, values + at / block * block, block);
    const float value = load_scalar_result(work + at % block);
    order_pipes<HardEvent::S_V>();
    return value;
}
__aicore__ inline void check_normalise_space(const LocalTensor<uint8_t>& scratch, uint32_t floats) {
    if (scratch.GetSize() < floats * sizeof(float)) {
        dav_fail("A normalisation was given too little temporary space: see its MaxMinTmpSize.");
    }
}

// ---- LayerNorm of alpha x + g(x). What is called rstd is the variance: the numbers of the page's
// example are that, and the vendor's own example compares with it.
template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>
__aicore__ inline void DeepNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& meanLocal,
                                const LocalTensor<T>& rstdLocal, const LocalTensor<T>& srcLocal,
                                const LocalTensor<T>& gxLocal, const LocalTensor<T>& betaLocal,
                                const LocalTensor<T>& gammaLocal,
                                const LocalTensor<uint8_t>& sharedTmpBuffer, const T alpha,
                                const T epsilon, const DeepNormTiling& tiling) {
    RowNormaliser rows(sharedTmpBuffer, tiling.originalHLength);
    rows.take_gamma(gammaLocal.pointer());
    rows.take_beta(betaLocal.pointer());
    for (uint32_t row = 0; row < tiling.bLength * tiling.sLength; ++row) {
        const uint64_t at = uint64_t(row) * tiling.hLength;
        rows.load(srcLocal.pointer() + at);
        rows.add(gxLocal.pointer() + at, float(alpha));
        const float average = rows.centre();
        const float variance = rows.mean_square();
        meanLocal.SetValue(row, T(average));
        rstdLocal.SetValue(row, T(variance));
        rows.template store<true, true>(dstLocal.pointer() + at,
                                        1.0f / sqrtf(variance + float(epsilon)));
    }
    order_pipes<HardEvent::S_V>();
    order_pipes<HardEvent::S_MTE3>();
}
template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>
__aicore__ inline void DeepNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& meanLocal,
                                const LocalTensor<T>& rstdLocal, const LocalTensor<T>& srcLocal,
                                const LocalTensor<T>& gxLocal, const LocalTensor<T>& betaLocal,
                                const LocalTensor<T>& gammaLocal, const T alpha, const T epsilon,
                                const DeepNormTiling& tiling) {
    DeepNorm<T>(dstLocal, meanLocal, rstdLocal, srcLocal, gxLocal, betaLocal, gammaLocal,
                free_scratch(), alpha, epsilon, tiling);
}

// ---- rows whose mean and variance are given
enum class ReducePattern : uint32_t { AR = 0, RA = 1 };
struct NormalizeConfig {
    ReducePattern reducePattern = ReducePattern::AR;
    int32_t aLength = -1;
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
};
constexpr NormalizeConfig NLCFG_NORM{};
struct NormalizePara {
    uint32_t aLength;
    uint32_t rLength;
    uint32_t rLengthWithPadding;
};
template <typename U, typename T, bool isReuseSource = false,
          const NormalizeConfig& config = NLCFG_NORM>
__aicore__ inline void Normalize(const LocalTensor<T>& output, const LocalTensor<float>& outputRstd,
                                 const LocalTensor<float>& inputMean,
                                 const LocalTensor<float>& inputVariance,
                                 const LocalTensor<T>& inputX, const LocalTensor<U>& gamma,
                                 const LocalTensor<U>& beta,
                                 const LocalTensor<uint8_t>& sharedTmpBuffer, const float epsilon,
                                 const NormalizePara& para) {
    static_assert(config.reducePattern == ReducePattern::AR, "Normalize takes the pattern AR");
    static_assert(!config.isOnlyOutput, "Normalize gives the inverse deviation, too");
    if (config.aLength != -1 && uint32_t(config.aLength) != para.aLength) {
        dav_fail("Normalize was given two numbers of rows: aLength of its configuration and para.");
    }
    constexpr bool narrow = !IsSameType<U, float>::value;
    const uint32_t columns = para.rLength;
    const uint32_t pitch = (columns + 7) / 8 * 8;
    check_normalise_space(sharedTmpBuffer, (narrow ? 4 : 2) * pitch);
    float* row = reinterpret_cast<float*>(sharedTmpBuffer.GetPhyAddr());
    float* work = row + pitch;
    float* gammas = work + pitch;
    float* betas = gammas + pitch;
    {
        const FloatSteps s(columns);
        if constexpr (!config.isNoGamma) gammas = s.wide(gamma.pointer(), gammas);
        if constexpr (!config.isNoBeta) betas = s.wide(beta.pointer(), betas);
    }
    for (uint32_t a = 0; a < para.aLength; ++a) {
        const uint64_t at = uint64_t(a) * para.rLengthWithPadding;
        const float average = vector_scalar(inputMean.pointer(), a, work);
        const float variance = vector_scalar(inputVariance.pointer(), a, work);
        const float factor = 1.0f / sqrtf(variance + epsilon);
        outputRstd.SetValue(a, factor);
        const FloatSteps s(columns);
        s.adds(row, s.wide(inputX.pointer() + at, row), -average);
        s.muls(row, row, factor);
        if constexpr (!config.isNoGamma) s.mul(row, row, gammas);
        if constexpr (!config.isNoBeta) s.add(row, row, betas);
        copy_row(s, output.pointer() + at, row);
    }
    order_pipes<HardEvent::S_V>();
    order_pipes<HardEvent::S_MTE3>();
}
template <typename U, typename T, bool isReuseSource = false,
          const NormalizeConfig& config = NLCFG_NORM>
__aicore__ inline void Normalize(const LocalTensor<T>& output, const LocalTensor<float>& outputRstd,
                                 const LocalTensor<float>& inputMean,
                                 const LocalTensor<float>& inputVariance,
                                 const LocalTensor<T>& inputX, const LocalTensor<U>& gamma,
                                 const LocalTensor<U>& beta, const float epsilon,
                                 const NormalizePara& para) {
    Normalize<U, T, isReuseSource, config>(output, outputRstd, inputMean, inputVariance, inputX,
                                           gamma, beta, free_scratch(), epsilon, para);
}

// ---- over the batch: each of S H lanes has its moments; gamma and beta have one element a batch
template <typename T, bool isReuseSource = false, bool isBasicBlock = false>
__aicore__ inline void BatchNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,
                                 const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX,
                                 const LocalTensor<T>& gamm, const LocalTensor<T>& beta,
                                 const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon,
                                 const BatchNormTiling& tiling) {
    const uint32_t batches = tiling.originalBLength;
    const uint32_t lanes = tiling.meanVarSize;
    const uint32_t affine = (batches + 7) / 8 * 8;
    check_normalise_space(sharedTmpBuffer, 2 * affine);
    float* gammas = reinterpret_cast<float*>(sharedTmpBuffer.GetPhyAddr());
    float* betas = gammas + affine;
    take_scalars(gammas, gamm.pointer(), batches);
    take_scalars(betas, beta.pointer(), batches);
    const uint32_t pass =
        elements_per_pass(sharedTmpBuffer.GetSize() - 2 * affine * uint32_t(sizeof(float)), 4);
    float* mean = betas + affine;
    float* spread = mean + pass;
    float* x = spread + pass;
    float* square = x + pass;
    for (uint32_t done = 0; done < lanes; done += pass) {
        const FloatSteps s(lanes - done < pass ? lanes - done : pass);
        s.fill(mean, 0.0f);
        s.fill(spread, 0.0f);
        for (uint32_t b = 0; b < batches; ++b) {
            s.axpy(mean, s.wide(inputX.pointer() + b * lanes + done, x), 1.0f / float(batches));
        }
        for (uint32_t b = 0; b < batches; ++b) {
            s.sub(x, s.wide(inputX.pointer() + b * lanes + done, x), mean);
            s.mul(square, x, x);
            s.axpy(spread, square, 1.0f / float(batches));
        }
        copy_row(s, outputMean.pointer() + done, mean);
        copy_row(s, outputVariance.pointer() + done, spread);
        s.adds(spread, spread, float(epsilon));
        s.sqrt(spread, spread);
        for (uint32_t b = 0; b < batches; ++b) {
            s.sub(x, s.wide(inputX.pointer() + b * lanes + done, x), mean);
            s.div(x, x, spread);
            s.muls(x, x, load_scalar_result(gammas + b));
            s.adds(x, x, load_scalar_result(betas + b));
            copy_row(s, output.pointer() + b * lanes + done, x);
        }
    }
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false>
__aicore__ inline void BatchNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,
                                 const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX,
                                 const LocalTensor<T>& gamm, const LocalTensor<T>& beta,
                                 const T epsilon, const BatchNormTiling& tiling) {
    BatchNorm<T>(output, outputMean, outputVariance, inputX, gamm, beta, free_scratch(), epsilon,
                 tiling);
}

// ---- over groups of channels; gamma and beta have one element a channel
template <typename T, bool isReuseSource = false>
__aicore__ inline void GroupNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,
                                 const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX,
                                 const LocalTensor<T>& gamma, const LocalTensor<T>& beta,
                                 const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon,
                                 const GroupNormTiling& tiling) {
    if (tiling.hw * sizeof(T) % ONE_BLK_SIZE != 0) {
        dav_fail("Our GroupNorm takes channels of whole 32 bytes.");
    }
    const uint32_t affine = (tiling.c + 7) / 8 * 8;
    const uint32_t pitch = (tiling.hw + 63) / 64 * 64;
    check_normalise_space(sharedTmpBuffer, 2 * affine + 2 * pitch);
    float* gammas = reinterpret_cast<float*>(sharedTmpBuffer.GetPhyAddr());
    float* betas = gammas + affine;
    float* row = betas + affine;
    float* work = row + pitch;
    take_scalars(gammas, gamma.pointer(), tiling.c);
    take_scalars(betas, beta.pointer(), tiling.c);
    const float share = 1.0f / float(tiling.d * tiling.hw);
    for (uint32_t group = 0; group < tiling.n * tiling.g; ++group) {
        const uint32_t first = group * tiling.d;
        float average = 0.0f;
        float variance = 0.0f;
        for (uint32_t at = first; at < first + tiling.d; ++at) {
            {
                const FloatSteps s(tiling.hw);
                copy_row(s, row, inputX.pointer() + at * tiling.hw);
            }
            average += row_total(row, tiling.hw, work) * share;
        }
        for (uint32_t at = first; at < first + tiling.d; ++at) {
            {
                const FloatSteps s(tiling.hw);
                s.adds(row, s.wide(inputX.pointer() + at * tiling.hw, row), -average);
                s.mul(row, row, row);
            }
            variance += row_total(row, tiling.hw, work) * share;
        }
        const float factor = 1.0f / sqrtf(variance + float(epsilon));
        for (uint32_t at = first; at < first + tiling.d; ++at) {
            const uint32_t channel = at % tiling.c;
            const FloatSteps s(tiling.hw);
            s.adds(row, s.wide(inputX.pointer() + at * tiling.hw, row), -average);
            s.muls(row, row, factor * load_scalar_result(gammas + channel));
            s.adds(row, row, load_scalar_result(betas + channel));
            copy_row(s, output.pointer() + at * tiling.hw, row);
        }
        outputMean.SetValue(group, T(average));
        outputVariance.SetValue(group, T(variance));
    }
    order_pipes<HardEvent::S_V>();
    order_pipes<HardEvent::S_MTE3>();
}
template <typename T, bool isReuseSource = false>
__aicore__ inline void GroupNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,
                                 const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX,
                                 const LocalTensor<T>& gamma, const LocalTensor<T>& beta,
                                 const T epsilon, const GroupNormTiling& tiling) {
    GroupNorm<T>(output, outputMean, outputVariance, inputX, gamma, beta, free_scratch(), epsilon,
                 tiling);
}

// ---- the moments of all lanes as one: lanes of n elements each, or of counts[lane]
struct WelfordFinalizeConfig {
    bool isCorrection = false;
};
constexpr WelfordFinalizeConfig WFFINALIZE_DEFAULT_CFG = {false};
struct WelfordFinalizePara {
    uint32_t rnLength;
    uint32_t abLength;
    uint32_t headCount;
    uint32_t headCountLength;
    uint32_t tailCount;
    uint32_t tailCountLength;
    float abRec;
    float rRec;
    float rRecWithCorrection;
};
// `weigh(to, first, count)` gives how many elements each lane stands for, `share` one by their
// number. The variances are sums of squares.
template <const WelfordFinalizeConfig& config, typename Weigh>
__aicore__ inline void finish_welford(const LocalTensor<float>& mean,
                                      const LocalTensor<float>& variance, float* means,
                                      float* squares, const LocalTensor<uint8_t>& scratch,
                                      const WelfordFinalizePara& para, float share, Weigh weigh) {
    const uint32_t pass = elements_per_pass(scratch.GetSize(), 3);
    float* space = reinterpret_cast<float*>(scratch.GetPhyAddr());
    float* weights = space + pass;
    float* work = weights + pass;
    float average = 0.0f;
    float total = 0.0f;
    for (const bool spread : {false, true}) {
        for (uint32_t done = 0; done < para.abLength; done += pass) {
            const uint32_t count = para.abLength - done < pass ? para.abLength - done : pass;
            weigh(weights, done, count);
            {
                const FloatSteps s(count);
                s.adds(space, means + done, -average);
                if (spread) s.mul(space, space, space);
                s.mul(space, space, weights);
                if (spread) s.add(space, space, squares + done);
            }
            total += row_total(space, count, work);
        }
        if (spread) break;
        average = total * share;
        total = 0.0f;
    }
    store_scalar_result(mean.pointer(), average);
    store_scalar_result(variance.pointer(),
                        total * (config.isCorrection ? para.rRecWithCorrection : para.rRec));
}
template <bool isReuseSource = false, const WelfordFinalizeConfig& config = WFFINALIZE_DEFAULT_CFG>
__aicore__ inline void WelfordFinalize(const LocalTensor<float>& outputMean,
                                       const LocalTensor<float>& outputVariance,
                                       const LocalTensor<float>& inputMean,
                                       const LocalTensor<float>& inputVariance,
                                       const LocalTensor<uint8_t>& sharedTmpBuffer,
                                       const WelfordFinalizePara& para) {
    if (para.headCountLength + para.tailCountLength != para.abLength) {
        dav_fail("WelfordFinalize: headCountLength and tailCountLength are abLength together.");
    }
    if (para.tailCount == 0 && para.tailCountLength != 0) {
        dav_fail("WelfordFinalize: lanes of tailCount 0 have no tailCountLength.");
    }
    const bool whole = para.tailCountLength == 0;
    finish_welford<config>(outputMean, outputVariance, inputMean.pointer(), inputVariance.pointer(),
                           sharedTmpBuffer, para,
                           whole ? para.abRec / float(para.rnLength) : para.rRec,
                           [&](float* to, uint32_t first, uint32_t count) {
                               // All lanes the tail's weight, then the head's.
                               {
                                   const FloatSteps s(count);
                                   s.fill(to, float(whole ? para.rnLength : para.tailCount));
                               }
                               if (whole || first >= para.headCountLength) return;
                               const uint32_t head = para.headCountLength - first;
                               const FloatSteps s(head < count ? head : count);
                               s.fill(to, float(para.headCount));
                           });
}
template <bool isReuseSource = false, const WelfordFinalizeConfig& config = WFFINALIZE_DEFAULT_CFG>
__aicore__ inline void WelfordFinalize(const LocalTensor<float>& outputMean,
                                       const LocalTensor<float>& outputVariance,
                                       const LocalTensor<float>& inputMean,
                                       const LocalTensor<float>& inputVariance,
                                       const LocalTensor<int32_t>& counts,
                                       const LocalTensor<uint8_t>& sharedTmpBuffer,
                                       const WelfordFinalizePara& para) {
    finish_welford<config>(outputMean, outputVariance, inputMean.pointer(), inputVariance.pointer(),
                           sharedTmpBuffer, para, para.rRec,
                           [&](float* to, uint32_t first, uint32_t count) {
                               const FloatSteps s(count);
                               s.to_float(to, counts.pointer() + first);
                           });
}
template <bool isReuseSource = false, const WelfordFinalizeConfig& config = WFFINALIZE_DEFAULT_CFG>
__aicore__ inline void WelfordFinalize(const LocalTensor<float>& outputMean,
                                       const LocalTensor<float>& outputVariance,
                                       const LocalTensor<float>& inputMean,
                                       const LocalTensor<float>& inputVariance,
                                       const WelfordFinalizePara& para) {
    WelfordFinalize<isReuseSource, config>(outputMean, outputVariance, inputMean, inputVariance,
                                           free_scratch(), para);
}
template <bool isReuseSource = false, const WelfordFinalizeConfig& config = WFFINALIZE_DEFAULT_CFG>
__aicore__ inline void WelfordFinalize(const LocalTensor<float>& outputMean,
                                       const LocalTensor<float>& outputVariance,
                                       const LocalTensor<float>& inputMean,
                                       const LocalTensor<float>& inputVariance,
                                       const LocalTensor<int32_t>& counts,
                                       const WelfordFinalizePara& para) {
    WelfordFinalize<isReuseSource, config>(outputMean, outputVariance, inputMean, inputVariance,
                                           counts, free_scratch(), para);
}

}  // namespace AscendC
