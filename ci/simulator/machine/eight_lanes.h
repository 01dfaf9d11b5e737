// Eight numbers at once, by the instructions of this computer: 256 bits of AVX2, twice 128 of NEON.
//
// Both give the same bits, those of a NaN apart: products are added with one rounding, half and
// binary32 are converted to nearest even, 32-bit sums wrap.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <arm_neon.h>
#endif

#include <cstdint>

#include "types.h"

namespace dav {

#if defined(__x86_64__)

using Floats = __m256;
using Integers = __m256i;

inline Floats load(const float* from) { return _mm256_loadu_ps(from); }
inline Integers load(const int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
inline void store(float* to, Floats value) { _mm256_storeu_ps(to, value); }
inline void store(int32_t* to, Integers value) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}
inline Floats broadcast(const float* from) { return _mm256_broadcast_ss(from); }
inline Integers broadcast(const int32_t* from) { return _mm256_set1_epi32(*from); }
inline Floats multiply_add(Floats a, Floats b, Floats sum) { return _mm256_fmadd_ps(a, b, sum); }
// Of each element's two 16-bit halves: the sum of both products.
inline Integers multiply_add(Integers a, Integers b, Integers sum) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
inline void widen_eight(const half* from, float* to) {
    _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
inline void narrow_eight(const float* from, half* to) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
}

#elif defined(__aarch64__)

using Floats = float32x4x2_t;
using Integers = int32x4x2_t;

inline Floats load(const float* from) { return {{vld1q_f32(from), vld1q_f32(from + 4)}}; }
inline Integers load(const int32_t* from) { return {{vld1q_s32(from), vld1q_s32(from + 4)}}; }
inline void store(float* to, Floats value) {
    vst1q_f32(to, value.val[0]);
    vst1q_f32(to + 4, value.val[1]);
}
inline void store(int32_t* to, Integers value) {
    vst1q_s32(to, value.val[0]);
    vst1q_s32(to + 4, value.val[1]);
}
inline Floats broadcast(const float* from) { return {{vdupq_n_f32(*from), vdupq_n_f32(*from)}}; }
inline Integers broadcast(const int32_t* from) {
    return {{vdupq_n_s32(*from), vdupq_n_s32(*from)}};
}
inline Floats multiply_add(Floats a, Floats b, Floats sum) {
    return {{vfmaq_f32(sum.val[0], a.val[0], b.val[0]), vfmaq_f32(sum.val[1], a.val[1], b.val[1])}};
}
inline int32x4_t multiply_pairs(int32x4_t a, int32x4_t b) {
    const int16x8_t x = vreinterpretq_s16_s32(a);
    const int16x8_t y = vreinterpretq_s16_s32(b);
    return vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y));
}
// Of each element's two 16-bit halves: the sum of both products.
inline Integers multiply_add(Integers a, Integers b, Integers sum) {
    return {{vaddq_s32(sum.val[0], multiply_pairs(a.val[0], b.val[0])),
             vaddq_s32(sum.val[1], multiply_pairs(a.val[1], b.val[1]))}};
}
inline void widen_eight(const half* from, float* to) {
    const float16x8_t value = vld1q_f16(reinterpret_cast<const __fp16*>(from));
    vst1q_f32(to, vcvt_f32_f16(vget_low_f16(value)));
    vst1q_f32(to + 4, vcvt_high_f32_f16(value));
}
inline void narrow_eight(const float* from, half* to) {
    const float16x4_t low = vcvt_f16_f32(vld1q_f32(from));
    vst1q_f16(reinterpret_cast<__fp16*>(to), vcvt_high_f16_f32(low, vld1q_f32(from + 4)));
}

#else
#error "The simulator runs on x86-64 and aarch64."
#endif

}  // namespace dav
