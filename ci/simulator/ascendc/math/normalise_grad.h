// The gradients of LayerNorm, row by row in single precision.
#pragma once

#include "batch_normalise.h"

namespace AscendC {

struct LayerNormGradShapeInfo {
    DataFormat dataFormat = DataFormat::ND;
};

// dx = dy g / s + 2 v c / H + m / H and c / s, for c = x - mean, s = sqrt(variance + epsilon),
// v = -sum(dy g c) / (2 s^3) and m = -sum(dy g) / s - 2 v sum(c) / H.
template <typename T, bool isReuseSource = false>
__aicore__ inline void LayerNormGrad(
    const LocalTensor<T>& outputPdX, const LocalTensor<T>& resForGamma,
    const LocalTensor<T>& inputDy, const LocalTensor<T>& inputX,
    const LocalTensor<T>& inputVariance, const LocalTensor<T>& inputMean,
    const LocalTensor<T>& inputGamma, const LocalTensor<uint8_t>& sharedTmpBuffer, T epsilon,
    const LayerNormGradTiling& tiling, const LayerNormGradShapeInfo& shapeInfo = {}) {
    if (shapeInfo.dataFormat != DataFormat::ND) dav_fail("LayerNormGrad takes the format ND.");
    const uint32_t rows = tiling.bLength * tiling.sLength;
    const uint32_t columns = tiling.originalHLength;
    const uint32_t moments = (rows + 7) / 8 * 8;
    const uint32_t pitch = (columns + 63) / 64 * 64;
    check_normalise_space(sharedTmpBuffer, 2 * moments + 5 * pitch);
    float* means = reinterpret_cast<float*>(sharedTmpBuffer.GetPhyAddr());
    float* variances = means + moments;
    float* slope = variances + moments;
    float* centred = slope + pitch;
    float* space = centred + pitch;
    float* gamma = space + pitch;
    float* work = gamma + pitch;
    take_scalars(means, inputMean.pointer(), rows);
    take_scalars(variances, inputVariance.pointer(), rows);
    take_scalars(gamma, inputGamma.pointer(), columns);
    const float share = 1.0f / float(columns);
    for (uint32_t row = 0; row < rows; ++row) {
        const uint64_t at = uint64_t(row) * tiling.hLength;
        const float inverse = 1.0f / sqrtf(load_scalar_result(variances + row) + float(epsilon));
        {
            const FloatSteps s(columns);
            s.mul(slope, s.wide(inputDy.pointer() + at, slope), gamma);
            s.adds(centred, s.wide(inputX.pointer() + at, centred),
                   -load_scalar_result(means + row));
            s.mul(space, slope, centred);
        }
        const float of_variance =
            -0.5f * inverse * inverse * inverse * row_total(space, columns, work);
        const float of_mean = -inverse * row_total(slope, columns, work) -
                              2.0f * of_variance * share * row_total(centred, columns, work);
        const FloatSteps s(columns);
        s.muls(slope, slope, inverse);
        s.axpy(slope, centred, 2.0f * of_variance * share);
        s.adds(slope, slope, of_mean * share);
        copy_row(s, outputPdX.pointer() + at, slope);
        s.muls(centred, centred, inverse);
        copy_row(s, resForGamma.pointer() + at, centred);
    }
}
template <typename T, bool isReuseSource = false>
__aicore__ inline void LayerNormGrad(const LocalTensor<T>& outputPdX,
                                     const LocalTensor<T>& resForGamma,
                                     const LocalTensor<T>& inputDy, const LocalTensor<T>& inputX,
                                     const LocalTensor<T>& inputVariance,
                                     const LocalTensor<T>& inputMean,
                                     const LocalTensor<T>& inputGamma, T epsilon,
                                     const LayerNormGradTiling& tiling,
                                     const LayerNormGradShapeInfo& shapeInfo = {}) {
    LayerNormGrad<T>(outputPdX, resForGamma, inputDy, inputX, inputVariance, inputMean, inputGamma,
                     free_scratch(), epsilon, tiling, shapeInfo);
}

// The sums over all rows of dy (x - mean) / s, which LayerNormGrad leaves, and of dy.
template <typename T, bool isReuseSource = false>
__aicore__ inline void LayerNormGradBeta(const LocalTensor<T>& outputPdGamma,
                                         const LocalTensor<T>& outputPdBeta,
                                         const LocalTensor<T>& resForGamma,
                                         const LocalTensor<T>& inputDy,
                                         const LocalTensor<uint8_t>& sharedTmpBuffer,
                                         const LayerNormGradBetaTiling& tiling) {
    const uint32_t columns = tiling.originalHLength;
    const uint32_t pass = elements_per_pass(sharedTmpBuffer.GetSize(), 4);
    float* gamma = reinterpret_cast<float*>(sharedTmpBuffer.GetPhyAddr());
    float* beta = gamma + pass;
    float* slope = beta + pass;
    float* space = slope + pass;
    for (uint32_t done = 0; done < columns; done += pass) {
        const FloatSteps s(columns - done < pass ? columns - done : pass);
        s.fill(gamma, 0.0f);
        s.fill(beta, 0.0f);
        for (uint32_t row = 0; row < tiling.bLength * tiling.sLength; ++row) {
            const uint64_t at = uint64_t(row) * tiling.hLength + done;
            float* dy = s.wide(inputDy.pointer() + at, slope);
            s.add(beta, beta, dy);
            s.mul(space, dy, s.wide(resForGamma.pointer() + at, space));
            s.add(gamma, gamma, space);
        }
        copy_row(s, outputPdGamma.pointer() + done, gamma);
        copy_row(s, outputPdBeta.pointer() + done, beta);
    }
}
template <typename T, bool isReuseSource = false>
__aicore__ inline void LayerNormGradBeta(const LocalTensor<T>& outputPdGamma,
                                         const LocalTensor<T>& outputPdBeta,
                                         const LocalTensor<T>& resForGamma,
                                         const LocalTensor<T>& inputDy,
                                         const LayerNormGradBetaTiling& tiling) {
    LayerNormGradBeta<T>(outputPdGamma, outputPdBeta, resForGamma, inputDy, free_scratch(), tiling);
}

}  // namespace AscendC
