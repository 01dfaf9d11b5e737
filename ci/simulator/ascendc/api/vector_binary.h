// Element by element, two sources.
#pragma once

#include "utils.h"

namespace AscendC {

// Two forms each: a mask with repeats and strides, and a count of elements. The first stands twice,
// for kernels pass a call on as a function with a count of leading elements for its mask.
#define ASC_BINARY_CALL(intrinsic, U)                                                \
    intrinsic((U*)dst.pointer(), (U*)src0.pointer(), (U*)src1.pointer(), repeatTime, \
              params.dstBlkStride, params.src0BlkStride, params.src1BlkStride,       \
              params.dstRepStride, params.src0RepStride, params.src1RepStride)
#define ASC_BINARY_OVER(Name, intrinsic, U, words)                                            \
    template <typename T, bool isSetMask = true>                                              \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0,        \
                                const LocalTensor<T>& src1, const MaskOf<T>& mask,            \
                                const FieldOf<uint8_t> repeatTime,                            \
                                const BinaryRepeatParams& params) {                           \
        set_mask<isSetMask>(mask);                                                            \
        ASC_BINARY_CALL(intrinsic, U);                                                        \
    }                                                                                         \
    template <typename T, bool isSetMask = true>                                              \
    __aicore__ inline void Name(                                                              \
        const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,    \
        uint64_t mask, const FieldOf<uint8_t> repeatTime, const BinaryRepeatParams& params) { \
        Name<T, isSetMask>(dst, src0, src1, MaskOf<T>(mask), repeatTime, params);             \
    }                                                                                         \
    template <typename T>                                                                     \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0,        \
                                const LocalTensor<T>& src1, const Count count) {              \
        const CounterMode mode(uint64_t(count) * (words));                                    \
        intrinsic((U*)dst.pointer(), (U*)src0.pointer(), (U*)src1.pointer(), 1, 1, 1, 1,      \
                  DEFAULT_REPEAT_STRIDE, DEFAULT_REPEAT_STRIDE, DEFAULT_REPEAT_STRIDE);       \
    }
#define ASC_BINARY(Name, intrinsic) ASC_BINARY_OVER(Name, intrinsic, T, 1)

ASC_BINARY(Add, vadd)
ASC_BINARY(Sub, vsub)
ASC_BINARY(Mul, vmul)
ASC_BINARY(Div, vdiv)
ASC_BINARY(Max, vmax)
ASC_BINARY(Min, vmin)
ASC_BINARY(AddRelu, vaddrelu)
ASC_BINARY(SubRelu, vsubrelu)
ASC_BINARY(FusedMulAdd, vmadd)          // dst = src0 * dst + src1
ASC_BINARY(FusedMulAddRelu, vmaddrelu)  // dst = relu(src0 * dst + src1)
ASC_BINARY(MulAddRelu, vmaddrelu)
#undef ASC_BINARY

// Bits of 16-bit words; wider elements are that many more words.
template <typename T>
using LogicWord = typename Conditional<IsSameType<T, int16_t>::value, int16_t, uint16_t>::type;
#define ASC_LOGIC(Name, intrinsic) \
    ASC_BINARY_OVER(Name, intrinsic, LogicWord<T>, sizeof(T) / sizeof(uint16_t))
ASC_LOGIC(And, vand)
ASC_LOGIC(Or, vor)
#undef ASC_LOGIC
#undef ASC_BINARY_OVER
#undef ASC_BINARY_CALL

// dst += src0 * src1; the destination may be wider (float from half sources).
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void MulAddDst(const LocalTensor<T>& dst, const LocalTensor<U>& src0,
                                 const LocalTensor<U>& src1, const MaskOf<T>& mask,
                                 const FieldOf<uint8_t> repeatTime,
                                 const BinaryRepeatParams& params) {
    set_mask<isSetMask>(mask);
    vmla(dst.pointer(), src0.pointer(), src1.pointer(), repeatTime, params.dstBlkStride,
         params.src0BlkStride, params.src1BlkStride, params.dstRepStride, params.src0RepStride,
         params.src1RepStride);
}
template <typename T, typename U>
__aicore__ inline void MulAddDst(const LocalTensor<T>& dst, const LocalTensor<U>& src0,
                                 const LocalTensor<U>& src1, const Count count) {
    const CounterMode mode(count);
    // Narrower sources advance by half a repeat while the destination advances by a whole one.
    constexpr uint8_t step = DEFAULT_REPEAT_STRIDE * sizeof(U) / sizeof(T);
    vmla(dst.pointer(), src0.pointer(), src1.pointer(), 1, 1, 1, 1, DEFAULT_REPEAT_STRIDE, step,
         step);
}

// (src0 op src1) and a ReLU, converted on the way out.
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void MulCast(const LocalTensor<T>& dst, const LocalTensor<U>& src0,
                               const LocalTensor<U>& src1, uint64_t mask,
                               const FieldOf<uint8_t> repeatTime,
                               const BinaryRepeatParams& params) {
    AscendCUtils::SetMask<U, isSetMask>(int32_t(mask));
    if constexpr (IsSameType<T, int8_t>::value) {
        vmulconv_f162s8(dst.pointer(), src0.pointer(), src1.pointer(), repeatTime,
                        params.dstBlkStride, params.src0BlkStride, params.src1BlkStride,
                        params.dstRepStride, params.src0RepStride, params.src1RepStride);
    } else {
        vmulconv_f162u8(dst.pointer(), src0.pointer(), src1.pointer(), repeatTime,
                        params.dstBlkStride, params.src0BlkStride, params.src1BlkStride,
                        params.dstRepStride, params.src0RepStride, params.src1RepStride);
    }
}

}  // namespace AscendC
