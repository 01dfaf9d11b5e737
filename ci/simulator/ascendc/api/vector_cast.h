// Conversions between element types.
#pragma once

#include "utils.h"

namespace AscendC {

#define ASC_CONVERT(name)                                                                 \
    name(dst, src, repeat, params.dstBlkStride, params.srcBlkStride, params.dstRepStride, \
         params.srcRepStride)
#define ASC_CONVERT_ROUNDED(name)                            \
    case RoundMode::CAST_RINT: return ASC_CONVERT(name##r);  \
    case RoundMode::CAST_FLOOR: return ASC_CONVERT(name##f); \
    case RoundMode::CAST_CEIL: return ASC_CONVERT(name##c);  \
    case RoundMode::CAST_ROUND: return ASC_CONVERT(name##a); \
    case RoundMode::CAST_TRUNC: return ASC_CONVERT(name##z);

// Which instruction converts, for each pair of types and rounding mode that the hardware has.
// `exact` is a pair for which every value fits; `rounded` needs a rounding mode; `either` also
// knows CAST_NONE, which then rounds to nearest even (or is exact).
#define ASC_CAST_HEAD(D, S)                                                                \
    __aicore__ inline void cast_intrinsic(D* dst, S* src, [[maybe_unused]] RoundMode mode, \
                                          uint8_t repeat, const UnaryRepeatParams& params)
#define ASC_CAST_EXACT(D, S, name) \
    ASC_CAST_HEAD(D, S) { ASC_CONVERT(name); }
#define ASC_CAST_ROUNDED(D, S, name)                                                   \
    ASC_CAST_HEAD(D, S) {                                                              \
        switch (mode) {                                                                \
            ASC_CONVERT_ROUNDED(name)                                                  \
            default:                                                                   \
                dav_fail(                                                              \
                    "Cast with a rounding mode that this pair of types does not have " \
                    "(" #name ").");                                                   \
        }                                                                              \
    }
#define ASC_CAST_EITHER(D, S, name)            \
    ASC_CAST_HEAD(D, S) {                      \
        switch (mode) {                        \
            ASC_CONVERT_ROUNDED(name)          \
            default: return ASC_CONVERT(name); \
        }                                      \
    }

ASC_CAST_ROUNDED(float, float, vconv_f322f32)
ASC_CAST_ROUNDED(bfloat16_t, float, vconv_f322bf16)
ASC_CAST_ROUNDED(int16_t, float, vconv_f322s16)
ASC_CAST_ROUNDED(int32_t, float, vconv_f322s32)
ASC_CAST_ROUNDED(int64_t, float, vconv_f322s64)
ASC_CAST_EXACT(float, half, vconv_f162f32)
ASC_CAST_ROUNDED(int16_t, half, vconv_f162s16)
ASC_CAST_ROUNDED(int32_t, half, vconv_f162s32)
ASC_CAST_EITHER(int8_t, half, vconv_f162s8)
ASC_CAST_EITHER(uint8_t, half, vconv_f162u8)
ASC_CAST_EITHER(int4b_t, half, vconv_f162s4)
ASC_CAST_EXACT(float, bfloat16_t, vconv_bf162f32)
ASC_CAST_ROUNDED(int32_t, bfloat16_t, vconv_bf162s32)
ASC_CAST_EXACT(half, int4b_t, vconv_s42f16)
ASC_CAST_EXACT(half, int8_t, vconv_s82f16)
ASC_CAST_EXACT(half, uint8_t, vconv_u82f16)
ASC_CAST_EITHER(half, int16_t, vconv_s162f16)
ASC_CAST_EXACT(float, int16_t, vconv_s162f32)
ASC_CAST_EXACT(half, int32_t, vconv_deq)  // scaled by SetDeqScale
ASC_CAST_EITHER(float, int32_t, vconv_s322f32)
ASC_CAST_EXACT(int16_t, int32_t, vconv_s322s16)
ASC_CAST_EXACT(int64_t, int32_t, vconv_s322s64)
ASC_CAST_EXACT(int32_t, int64_t, vconv_s642s32)
ASC_CAST_ROUNDED(float, int64_t, vconv_s642f32)
ASC_CAST_HEAD(half, float) {
    switch (mode) {
        ASC_CONVERT_ROUNDED(vconv_f322f16)
        case RoundMode::CAST_ODD: return ASC_CONVERT(vconv_f322f16o);
        default: return ASC_CONVERT(vconv_f322f16);
    }
}
#undef ASC_CAST_EITHER
#undef ASC_CAST_ROUNDED
#undef ASC_CAST_EXACT
#undef ASC_CAST_HEAD
#undef ASC_CONVERT_ROUNDED
#undef ASC_CONVERT

// Half bytes count by two in a byte, so their half gets the mask and strides of 8-bit elements.
template <typename T, typename U>
constexpr uint32_t widest_of = (sizeof(T) > sizeof(U) ? sizeof(T) : sizeof(U));

#ifdef DAV_CHECKED
constexpr const char* rounding_of(RoundMode mode) {
    switch (mode) {
        case RoundMode::CAST_FLOOR: return "Cast rounds down here (CAST_FLOOR).";
        case RoundMode::CAST_CEIL: return "Cast rounds up here (CAST_CEIL).";
        case RoundMode::CAST_ROUND: return "Cast rounds halves away from zero here (CAST_ROUND).";
        case RoundMode::CAST_TRUNC: return "Cast rounds toward zero here (CAST_TRUNC).";
        case RoundMode::CAST_ODD: return "Cast rounds to odd here (CAST_ODD).";
        default: return nullptr;
    }
}
// A wider type of floating point keeps all bits; of an integer as wide as it or wider it does not.
template <typename T, typename U> __aicore__ inline void note_rounding(RoundMode mode) {
    constexpr bool is_float = IsSameType<T, float>::value || IsSameType<T, half>::value ||
                              IsSameType<T, bfloat16_t>::value;
    if constexpr (is_float && std::is_integral_v<U> && sizeof(U) >= sizeof(T))
        dav_limit("Cast of integers keeps as many bits here as floating point holds.", "rounding");
    else if constexpr (!(IsSameType<T, float>::value && sizeof(U) < sizeof(T)))
        if (rounding_of(mode) != nullptr) dav_limit(rounding_of(mode), "rounding");
}
#define ASC_NOTE_ROUNDING(T, U, mode) note_rounding<T, U>(mode)
#else
#define ASC_NOTE_ROUNDING(T, U, mode)
#endif

// The masks address elements of the wider type.
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                            const RoundMode& mode,
                            const MaskOf<typename BitsOf<widest_of<T, U>>::type>& mask,
                            const FieldOf<uint8_t> repeatTime, const UnaryRepeatParams& params) {
    ASC_NOTE_ROUNDING(T, U, mode);
    set_mask<isSetMask>(mask);
    cast_intrinsic(dst.pointer(), src.pointer(), mode, repeatTime, params);
}
template <typename T, typename U>
__aicore__ inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                            const RoundMode& mode, const uint32_t count) {
    UnaryRepeatParams params;
    // A repeat covers 256 bytes of the wider type; the narrower one advances by its share.
    if constexpr (IsSameType<T, int4b_t>::value) {
        params.dstRepStride = 2;
    } else if constexpr (IsSameType<U, int4b_t>::value) {
        params.srcRepStride = 2;
    } else if constexpr (sizeof(T) < sizeof(U)) {
        params.dstRepStride = DEFAULT_REPEAT_STRIDE * sizeof(T) / sizeof(U);
    } else if constexpr (sizeof(T) > sizeof(U)) {
        params.srcRepStride = DEFAULT_REPEAT_STRIDE * sizeof(U) / sizeof(T);
    }
    ASC_NOTE_ROUNDING(T, U, mode);
    const CounterMode counter(count);
    cast_intrinsic(dst.pointer(), src.pointer(), mode, 1, params);
}

// ---- dequantisation
__aicore__ inline void SetDeqScale(half scale) { set_deqscale(scale); }
// Bits 0..31 the scale, 37..45 the offset, 46 the sign of the result.
__aicore__ inline uint64_t deq_config(float scale, int16_t offset, bool signed_result) {
    return uint64_t(GetScalarBitcodeValue(scale)) | (uint64_t(uint16_t(offset) & 0x1ff) << 37) |
           (uint64_t(signed_result) << 46);
}
__aicore__ inline void SetDeqScale(float scale, int16_t offset, bool signed_result) {
    set_deqscale(deq_config(scale, offset, signed_result));
}
template <typename T> __aicore__ inline void SetDeqScale(const LocalTensor<T>& scales) {
    set_deqscale(uint64_t(scales.GetPhyAddr()) >> 5);
}
// One of each for every element of a block of 16.
struct VdeqInfo {
    static constexpr uint32_t SIZE = 16;
    __aicore__ VdeqInfo() {}
    __aicore__ VdeqInfo(const float scales[SIZE], const int16_t offsets[SIZE],
                        const bool signs[SIZE]) {
        for (uint32_t i = 0; i < SIZE; ++i) {
            vdeqScale[i] = scales[i];
            vdeqOffset[i] = offsets[i];
            vdeqSignMode[i] = signs[i];
        }
    }
    float vdeqScale[SIZE] = {0};
    int16_t vdeqOffset[SIZE] = {0};
    bool vdeqSignMode[SIZE] = {false};
};
// The scalar unit writes the table into `vdeq`, 128 bytes.
template <typename T>
__aicore__ inline void SetDeqScale(const LocalTensor<T>& vdeq, const VdeqInfo& vdeqInfo) {
    const LocalTensor<uint64_t> table = vdeq.template ReinterpretCast<uint64_t>();
    for (uint32_t i = 0; i < VdeqInfo::SIZE; ++i) {
        table.SetValue(
            i, deq_config(vdeqInfo.vdeqScale[i], vdeqInfo.vdeqOffset[i], vdeqInfo.vdeqSignMode[i]));
    }
    order_pipes<HardEvent::S_V>();
    SetDeqScale(vdeq);
}
template <bool isVecDeq, bool halfBlock, typename T>
__aicore__ inline void dequantise(T* dst, int16_t* src, uint8_t repeat,
                                  const UnaryRepeatParams& p) {
#define ASC_DEQUANTISE(name) \
    name(dst, src, repeat, p.dstBlkStride, p.srcBlkStride, p.dstRepStride, p.srcRepStride)
    if constexpr (isVecDeq && halfBlock) ASC_DEQUANTISE(vconv_vdeqs162b8h);
    if constexpr (isVecDeq && !halfBlock) ASC_DEQUANTISE(vconv_vdeqs162b8l);
    if constexpr (!isVecDeq && halfBlock) ASC_DEQUANTISE(vconv_deqs162b8h);
    if constexpr (!isVecDeq && !halfBlock) ASC_DEQUANTISE(vconv_deqs162b8l);
#undef ASC_DEQUANTISE
}
// Halves have one scale, and a place of their own: neither flag matters.
template <bool, bool>
__aicore__ inline void dequantise(half* dst, int32_t* src, uint8_t repeat,
                                  const UnaryRepeatParams& p) {
    vconv_deq(dst, src, repeat, p.dstBlkStride, p.srcBlkStride, p.dstRepStride, p.srcRepStride);
}
template <typename T, typename U, bool isSetMask = true, bool isVecDeq = true,
          bool halfBlock = true>
__aicore__ inline void CastDequant(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                                   const MaskOf<U>& mask, const FieldOf<uint8_t> repeatTime,
                                   const UnaryRepeatParams& params) {
    set_mask<isSetMask>(mask);
    dequantise<isVecDeq, halfBlock>(dst.pointer(), src.pointer(), repeatTime, params);
}
template <typename T, typename U, bool isVecDeq = true, bool halfBlock = true>
__aicore__ inline void CastDequant(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                                   const uint32_t count) {
    const CounterMode counter(count);
    UnaryRepeatParams params;
    if constexpr (IsSameType<T, half>::value) params.dstRepStride = HALF_DEFAULT_REPEAT_STRIDE;
    dequantise<isVecDeq, halfBlock>(dst.pointer(), src.pointer(), 1, params);
}
// The older name.
template <typename T, typename U, bool isSetMask = true, bool isVecDeq = true,
          bool halfBlock = true>
__aicore__ inline void CastDeq(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                               const int32_t mask, const FieldOf<uint8_t> repeatTime,
                               const UnaryRepeatParams& params) {
    CastDequant<T, U, isSetMask, isVecDeq, halfBlock>(dst, src, mask, repeatTime, params);
}
template <typename T, typename U, bool isVecDeq = true, bool halfBlock = true>
__aicore__ inline void CastDeq(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                               const uint32_t count) {
    CastDequant<T, U, isVecDeq, halfBlock>(dst, src, count);
}

}  // namespace AscendC
