// Element by element: one source, and one source with a scalar.
#pragma once

#include "utils.h"

namespace AscendC {

// A mask of leading elements stands for itself too, see vector_binary.h.
#define ASC_UNARY_OVER(Name, intrinsic, U, words)                                         \
    template <typename T, bool isSetMask = true>                                          \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,     \
                                const MaskOf<T>& mask, const FieldOf<uint8_t> repeatTime, \
                                const UnaryRepeatParams& params) {                        \
        set_mask<isSetMask>(mask);                                                        \
        intrinsic((U*)dst.pointer(), (U*)src.pointer(), repeatTime, params.dstBlkStride,  \
                  params.srcBlkStride, params.dstRepStride, params.srcRepStride);         \
    }                                                                                     \
    template <typename T, bool isSetMask = true>                                          \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,     \
                                uint64_t mask, const FieldOf<uint8_t> repeatTime,         \
                                const UnaryRepeatParams& params) {                        \
        Name<T, isSetMask>(dst, src, MaskOf<T>(mask), repeatTime, params);                \
    }                                                                                     \
    template <typename T>                                                                 \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,     \
                                const Count count) {                                      \
        const CounterMode mode(uint64_t(count) * (words));                                \
        intrinsic((U*)dst.pointer(), (U*)src.pointer(), 1, 1, 1, DEFAULT_REPEAT_STRIDE,   \
                  DEFAULT_REPEAT_STRIDE);                                                 \
    }
#define ASC_UNARY(Name, intrinsic) ASC_UNARY_OVER(Name, intrinsic, T, 1)
ASC_UNARY(Abs, vabs)
ASC_UNARY(Relu, vrelu)
ASC_UNARY(Exp, vexp)
ASC_UNARY(Ln, vln)
ASC_UNARY(Sqrt, vsqrt)
ASC_UNARY(Rsqrt, vrsqrt)
ASC_UNARY(Reciprocal, vrec)
template <typename T>
using NotWord = typename Conditional<IsSameType<T, int16_t>::value, int16_t, uint16_t>::type;
ASC_UNARY_OVER(Not, vnot, NotWord<T>, sizeof(T) / sizeof(uint16_t))
#undef ASC_UNARY
#undef ASC_UNARY_OVER

// The scalar has the tensor's type; other arithmetic types convert to it.
#define ASC_SCALAR(Name, intrinsic, Scalar)                                                  \
    template <typename T, bool isSetMask = true>                                             \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,        \
                                ScalarOf<T> scalarValue, const MaskOf<T>& mask,              \
                                const FieldOf<uint8_t> repeatTime,                           \
                                const UnaryRepeatParams& params) {                           \
        set_mask<isSetMask>(mask);                                                           \
        intrinsic(dst.pointer(), src.pointer(), (Scalar)scalarValue, repeatTime,             \
                  params.dstBlkStride, params.srcBlkStride, params.dstRepStride,             \
                  params.srcRepStride);                                                      \
    }                                                                                        \
    template <typename T, bool isSetMask = true>                                             \
    __aicore__ inline void Name(                                                             \
        const LocalTensor<T>& dst, const LocalTensor<T>& src, ScalarOf<T> scalarValue,       \
        uint64_t mask, const FieldOf<uint8_t> repeatTime, const UnaryRepeatParams& params) { \
        Name<T, isSetMask>(dst, src, scalarValue, MaskOf<T>(mask), repeatTime, params);      \
    }                                                                                        \
    template <typename T, bool isSetMask = true>                                             \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,        \
                                ScalarOf<T> scalarValue, const Count count) {                \
        if constexpr (isSetMask) {                                                           \
            const CounterMode mode(count);                                                   \
            intrinsic(dst.pointer(), src.pointer(), (Scalar)scalarValue, 1, 1, 1,            \
                      DEFAULT_REPEAT_STRIDE, DEFAULT_REPEAT_STRIDE);                         \
        } else {                                                                             \
            intrinsic(dst.pointer(), src.pointer(), (Scalar)scalarValue, 1, 1, 1,            \
                      DEFAULT_REPEAT_STRIDE, DEFAULT_REPEAT_STRIDE);                         \
        }                                                                                    \
    }
ASC_SCALAR(Adds, vadds, T)
ASC_SCALAR(Muls, vmuls, T)
ASC_SCALAR(Maxs, vmaxs, T)
ASC_SCALAR(Mins, vmins, T)
ASC_SCALAR(LeakyRelu, vlrelu, T)
ASC_SCALAR(ShiftLeft, vshl, uint32_t)
#undef ASC_SCALAR

// A shift of signed numbers is arithmetic, of unsigned ones logical.
template <typename T>
using ShiftDistance = typename Conditional<std::is_signed<T>::value, int32_t, uint32_t>::type;
template <typename T, bool isSetMask = true>
__aicore__ inline void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                  const T& scalarValue, const MaskOf<T>& mask,
                                  const FieldOf<uint8_t> repeatTime,
                                  const UnaryRepeatParams& params, bool roundEn = false) {
    set_mask<isSetMask>(mask);
    vshr(dst.pointer(), src.pointer(), ShiftDistance<T>(scalarValue), repeatTime,
         params.dstBlkStride, params.srcBlkStride, params.dstRepStride, params.srcRepStride,
         roundEn);
}
template <typename T, bool isSetMask = true>
__aicore__ inline void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                  const T& scalarValue, const Count count) {
    const auto shift = [&] {
        vshr(dst.pointer(), src.pointer(), ShiftDistance<T>(scalarValue), 1, 1, 1,
             DEFAULT_REPEAT_STRIDE, DEFAULT_REPEAT_STRIDE, false);
    };
    if constexpr (isSetMask) {
        const CounterMode mode(count);
        shift();
    } else {
        shift();
    }
}

// dst += src * scalar; the destination may be wider (float from half).
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                            const U& scalarValue, const MaskOf<T>& mask,
                            const FieldOf<uint8_t> repeatTime, const UnaryRepeatParams& params) {
    set_mask<isSetMask>(mask);
    vaxpy(dst.pointer(), src.pointer(), scalarValue, repeatTime, params.dstBlkStride,
          params.srcBlkStride, params.dstRepStride, params.srcRepStride);
}
template <typename T, typename U>
__aicore__ inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                            const U& scalarValue, const Count count) {
    const CounterMode mode(count);
    constexpr uint8_t step = DEFAULT_REPEAT_STRIDE * sizeof(U) / sizeof(T);
    vaxpy(dst.pointer(), src.pointer(), scalarValue, 1, 1, 1, DEFAULT_REPEAT_STRIDE, step);
}

}  // namespace AscendC
