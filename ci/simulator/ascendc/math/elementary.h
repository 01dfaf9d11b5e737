// Mathematical functions of one argument. Each Operation gives its steps in single precision;
// dst may be src, so dst is written by the last step only. Polynomials are least-squares minimax
// fits in double precision; relative errors are below 3e-8 unless said otherwise.
#pragma once

#include "../api/vector_unary.h"
#include "steps.h"

namespace AscendC {

ASC_OPERATION(Log2Operation, 0) {
    s.ln(dst, src);
    s.muls(dst, dst, 1.44269504088896341f);
}
ASC_OPERATION(Log10Operation, 0) {
    s.ln(dst, src);
    s.muls(dst, dst, 0.43429448190325183f);
}
ASC_OPERATION(FloorOperation, 0) { s.floor(dst, src); }
ASC_OPERATION(CeilOperation, 0) { s.ceil(dst, src); }
ASC_OPERATION(RoundOperation, 0) { s.rint(dst, src); }
ASC_OPERATION(TruncOperation, 0) { s.trunc(dst, src); }
ASC_OPERATION(FracOperation, 1) {
    s.trunc(scratch, src);
    s.sub(dst, src, scratch);
}
// As integers the signs lose what is no number: it becomes 0.
ASC_OPERATION(SignOperation, 1) {
    s.muls(scratch, src, 1.0f);
    s.sign(scratch, scratch);
    s.to_integer(reinterpret_cast<int32_t*>(scratch), scratch);
    s.to_float(dst, reinterpret_cast<int32_t*>(scratch));
}
ASC_OPERATION(SigmoidOperation, 2) {
    float* e = scratch;
    float* one = scratch + pass;
    s.muls(e, src, -1.0f);
    s.exp(e, e);
    s.adds(e, e, 1.0f);
    s.fill(one, 1.0f);
    s.div(dst, one, e);
}
ASC_OPERATION(SiluOperation, 1) {
    s.muls(scratch, src, -1.0f);
    s.exp(scratch, scratch);
    s.adds(scratch, scratch, 1.0f);
    s.div(dst, src, scratch);
}
// (e^2x - 1) / (e^2x + 1); beyond 8.8 the result is 1 in single precision.
ASC_OPERATION(TanhOperation, 2) {
    float* e = scratch;
    float* numerator = scratch + pass;
    s.clamp(e, src, -8.8f, 8.8f);
    s.muls(e, e, 2.0f);
    s.exp(e, e);
    s.adds(numerator, e, -1.0f);
    s.adds(e, e, 1.0f);
    s.div(dst, numerator, e);
}
// e^(x - ln 2) does not overflow before the result does.
ASC_OPERATION(SinhOperation, 2) {
    s.adds(scratch, src, -0.69314718055994531f);
    s.exp(scratch, scratch);
    s.muls(scratch + pass, src, -1.0f);
    s.adds(scratch + pass, scratch + pass, -0.69314718055994531f);
    s.exp(scratch + pass, scratch + pass);
    s.sub(dst, scratch, scratch + pass);
}
ASC_OPERATION(CoshOperation, 2) {
    s.adds(scratch, src, -0.69314718055994531f);
    s.exp(scratch, scratch);
    s.muls(scratch + pass, src, -1.0f);
    s.adds(scratch + pass, scratch + pass, -0.69314718055994531f);
    s.exp(scratch + pass, scratch + pass);
    s.add(dst, scratch, scratch + pass);
}

// pi in parts with trailing zeros, so that multiples of the first parts are exact.
constexpr float PI_PARTS[4] = {3.140625f, 0.0009670257568359375f, 6.2771141529083252e-07f,
                               1.2154201256553420e-10f};
// r = x - k pi (+ shift), k to the nearest integer given in k.
__aicore__ inline void subtract_pi_multiples(const FloatSteps& s, float* r, float* x, float* k,
                                             float shift) {
    s.muls(r, x, 1.0f);
    s.axpy(r, k, -PI_PARTS[0]);
    s.axpy(r, k, -PI_PARTS[1]);
    if (shift != 0.0f) s.adds(r, r, shift);
    s.axpy(r, k, -PI_PARTS[2]);
    s.axpy(r, k, -PI_PARTS[3]);
}
// sin(r)/r for |r| <= pi/2 in u = r^2.
constexpr float SINE[5] = {9.9999999468598266e-01f, -1.6666656683976783e-01f,
                           8.3330251383874274e-03f, -1.9807418691183964e-04f,
                           2.6019029963075813e-06f};
// dst = (-1)^k sin(r); u and p are scratch.
__aicore__ inline void signed_sine(const FloatSteps& s, float* dst, float* r, float* k, float* u,
                                   float* p) {
    s.mul(u, r, r);
    s.polynomial<4>(p, u, SINE);
    s.mul(p, p, r);
    s.muls(u, k, 0.5f);  // the sign: 4 floor(k/2) - 2k + 1
    s.floor(u, u);
    s.muls(u, u, 4.0f);
    s.axpy(u, k, -2.0f);
    s.adds(u, u, 1.0f);
    s.mul(dst, p, u);
}
ASC_OPERATION(SinOperation, 4) {
    float* k = scratch;
    float* r = scratch + pass;
    s.muls(k, src, 0.31830988618379067f);
    s.rint(k, k);
    subtract_pi_multiples(s, r, src, k, 0.0f);
    signed_sine(s, dst, r, k, scratch + 2 * pass, scratch + 3 * pass);
}
// cos x = sin(x + pi/2).
ASC_OPERATION(CosOperation, 4) {
    float* k = scratch;
    float* r = scratch + pass;
    s.muls(k, src, 0.31830988618379067f);
    s.adds(k, k, 0.5f);
    s.rint(k, k);
    subtract_pi_multiples(s, r, src, k, 1.57079632679489662f);
    signed_sine(s, dst, r, k, scratch + 2 * pass, scratch + 3 * pass);
}
// tan r = sin r / cos r with cos r = (pi/2 - r)(pi/2 + r) C(r^2), whose zeros are exact factors.
ASC_OPERATION(TanOperation, 5) {
    constexpr float COSINE[5] = {4.0528473539474758e-01f, -3.8386654179433558e-02f,
                                 1.3293338997567919e-03f, -2.4117426545559872e-05f,
                                 2.5991613881309883e-07f};
    float* k = scratch;
    float* r = scratch + pass;
    float* u = scratch + 2 * pass;
    float* below = scratch + 3 * pass;
    float* factor = scratch + 4 * pass;
    s.muls(k, src, 0.31830988618379067f);
    s.rint(k, k);
    subtract_pi_multiples(s, r, src, k, 0.0f);
    s.mul(u, r, r);
    s.polynomial<4>(below, u, COSINE);
    s.adds(factor, r, 1.57079637050628662f);  // pi/2 rounded, and what the rounding lost
    s.adds(factor, factor, -4.37113883e-08f);
    s.mul(below, below, factor);
    s.muls(factor, r, -1.0f);
    s.adds(factor, factor, 1.57079637050628662f);
    s.adds(factor, factor, -4.37113883e-08f);
    s.mul(below, below, factor);
    s.polynomial<4>(factor, u, SINE);
    s.mul(factor, factor, r);
    s.div(dst, factor, below);
}

// atan x = 4 atan(t), t the argument after halving the angle twice: t -> t / (1 + sqrt(1 + t^2)).
// `x` is overwritten; u and w are scratch.
__aicore__ inline void arc_tangent(const FloatSteps& s, float* dst, float* x, float* u, float* w,
                                   float scale) {
    constexpr float ARC[6] = {0.9999999993966462f,  -0.3333330762513388f, 0.1999821691458128f,
                              -0.1424008246884381f, 0.10573476209573264f, -0.06034781966715207f};
    s.clamp(x, x, -1e15f, 1e15f);  // the square must not overflow
    for (int halving = 0; halving < 2; ++halving) {
        s.mul(u, x, x);
        s.adds(u, u, 1.0f);
        s.sqrt(u, u);
        s.adds(u, u, 1.0f);
        s.div(x, x, u);
    }
    s.mul(u, x, x);
    s.polynomial<5>(w, u, ARC);
    s.mul(w, w, x);
    s.muls(dst, w, 4.0f * scale);
}
ASC_OPERATION(AtanOperation, 3) {
    s.muls(scratch, src, 1.0f);
    arc_tangent(s, dst, scratch, scratch + pass, scratch + 2 * pass, 1.0f);
}
// asin x = atan(x / sqrt((1 - x)(1 + x))).
ASC_OPERATION(AsinOperation, 3) {
    float* x = scratch;
    float* u = scratch + pass;
    s.muls(x, src, -1.0f);
    s.adds(x, x, 1.0f);
    s.adds(u, src, 1.0f);
    s.mul(x, x, u);
    s.sqrt(x, x);
    s.adds(x, x, 1e-20f);
    s.div(x, src, x);
    arc_tangent(s, dst, x, u, scratch + 2 * pass, 1.0f);
}
// acos x = 2 atan(sqrt((1 - x) / (1 + x))).
ASC_OPERATION(AcosOperation, 3) {
    float* x = scratch;
    float* u = scratch + pass;
    s.muls(x, src, -1.0f);
    s.adds(x, x, 1.0f);
    s.adds(u, src, 1.0f);
    s.adds(u, u, 1e-30f);
    s.div(x, x, u);
    s.sqrt(x, x);
    arc_tangent(s, dst, x, u, scratch + 2 * pass, 2.0f);
}

// x P(x^2) / Q(x^2) up to 3.92, where the result is 1 in single precision.
ASC_OPERATION(ErfOperation, 4) {
    constexpr float ABOVE[6] = {1.1283791462274468e+00f, 1.9040184803404894e-01f,
                                5.2747986527141522e-02f, 3.7653825075135354e-03f,
                                2.8487123326109703e-04f, 2.0500417382934836e-06f};
    constexpr float BELOW[6] = {1.0f,
                                5.0207198728479718e-01f,
                                1.1410708737387874e-01f,
                                1.4968754889171605e-02f,
                                1.1624669216277537e-03f,
                                3.8090642254855055e-05f};
    float* x = scratch;
    float* u = scratch + pass;
    float* above = scratch + 2 * pass;
    float* below = scratch + 3 * pass;
    s.clamp(x, src, -3.92f, 3.92f);
    s.mul(u, x, x);
    s.polynomial<5>(above, u, ABOVE);
    s.mul(above, above, x);
    s.polynomial<5>(below, u, BELOW);
    s.div(dst, above, below);
}
// A Chebyshev fit in t = 1 / (1 + |x|/2), relative error 1.2e-7 (Numerical Recipes, erfc).
ASC_OPERATION(ErfcOperation, 5) {
    constexpr float FIT[10] = {-1.26551223f, 1.00002368f,  0.37409196f, 0.09678418f,  -0.18628806f,
                               0.27886807f,  -1.13520398f, 1.48851587f, -0.82215223f, 0.17087277f};
    float* magnitude = scratch;
    float* t = scratch + pass;
    float* value = scratch + 2 * pass;
    float* sign = scratch + 3 * pass;
    float* one = scratch + 4 * pass;
    s.clamp(sign, src, -10.5f, 10.5f);  // e^-x^2 is zero beyond
    s.abs(magnitude, sign);
    s.muls(t, magnitude, 0.5f);
    s.adds(t, t, 1.0f);
    s.fill(one, 1.0f);
    s.div(t, one, t);
    s.polynomial<9>(value, t, FIT);
    s.mul(magnitude, magnitude, magnitude);
    s.sub(value, value, magnitude);
    s.exp(value, value);
    s.mul(value, value, t);
    // value for x >= 0, 2 - value below: 1 - sign (1 - value), with sign(0) = 1.
    s.adds(sign, sign, 1e-30f);
    s.sign(t, sign);
    s.mul(value, value, t);
    s.sub(value, value, t);
    s.adds(dst, value, 1.0f);
}

// e^x as e^floor(x) times the Taylor series of the fraction up to the given power.
template <uint8_t level> struct TaylorExpOperation {
    static constexpr uint32_t SCRATCH = 3;
    __aicore__ static void run(const FloatSteps& s, float* dst, float* src, float* scratch,
                               uint32_t pass) {
        float* whole = scratch;
        float* fraction = scratch + pass;
        float* series = scratch + 2 * pass;
        s.floor(whole, src);
        s.sub(fraction, src, whole);
        s.exp(whole, whole);
        s.fill(series, 1.0f);
        for (int power = level; power > 0; --power) {
            s.mul(series, series, fraction);
            s.muls(series, series, 1.0f / float(power));
            s.adds(series, series, 1.0f);
        }
        s.mul(dst, whole, series);
    }
};
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
__aicore__ inline void Exp(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                           const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {
    run_elementwise<TaylorExpOperation<taylorExpandLevel>>(dst, src, sharedTmpBuffer, calCount);
}
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
__aicore__ inline void Exp(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                           const uint32_t calCount) {
    using Operation = TaylorExpOperation<taylorExpandLevel>;
    run_elementwise<Operation>(dst, src, scratch_for<Operation, T>(), calCount);
}

// The natural logarithm is an instruction of its own for both types.
template <typename T, bool isReuseSource = false>
__aicore__ inline void Log(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                           uint32_t calCount) {
    Ln(dst, src, int32_t(calCount));
}
template <typename T, bool isReuseSource = false>
__aicore__ inline void Log(const LocalTensor<T>& dst, const LocalTensor<T>& src) {
    Ln(dst, src, int32_t(src.GetSize()));
}
ASC_FUNCTION(Log2, Log2Operation)
ASC_FUNCTION_OF_COUNT(Log10, Log10Operation)
template <typename T, bool isReuseSource = false>
__aicore__ inline void Log10(const LocalTensor<T>& dst, const LocalTensor<T>& src) {
    Log10<T, isReuseSource>(dst, src, src.GetSize());
}
ASC_FUNCTION_OF_SPACE(Floor, FloorOperation)
ASC_FUNCTION_OF_SPACE(Ceil, CeilOperation)
ASC_FUNCTION_OF_SPACE(Round, RoundOperation)
ASC_FUNCTION(Trunc, TruncOperation)
ASC_FUNCTION(Frac, FracOperation)
ASC_FUNCTION(Sign, SignOperation)
ASC_FUNCTION(Sigmoid, SigmoidOperation)
ASC_FUNCTION_OF_COUNT(Silu, SiluOperation)
ASC_FUNCTION(Tanh, TanhOperation)
ASC_FUNCTION(Sinh, SinhOperation)
ASC_FUNCTION(Cosh, CoshOperation)
ASC_FUNCTION(Sin, SinOperation)
ASC_FUNCTION(Cos, CosOperation)
ASC_FUNCTION(Tan, TanOperation)
ASC_FUNCTION(Atan, AtanOperation)
ASC_FUNCTION(Asin, AsinOperation)
ASC_FUNCTION(Acos, AcosOperation)
ASC_FUNCTION(Erf, ErfOperation)
ASC_FUNCTION(Erfc, ErfcOperation)

}  // namespace AscendC
