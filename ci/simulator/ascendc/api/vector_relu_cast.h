// Sums and differences that are cut off at 0 and converted, and de-quantisation by SetDeqScale.
#pragma once

#include "vector_binary.h"
#include "vector_cast.h"

namespace AscendC {

// Relu(src0 op src1) in the source's type, rounded and saturated to T.
#define ASC_RELU_CAST(Name, op)                                                                    \
    template <typename T, typename U>                                                              \
    __aicore__ inline void convert_##op(T* dst, U* src0, U* src1, uint8_t repeat,                  \
                                        const BinaryRepeatParams& p) {                             \
        constexpr bool known =                                                                     \
            (IsSameType<T, int8_t>::value && SupportType<U, half, int16_t>()) ||                   \
            (IsSameType<T, half>::value && IsSameType<U, float>::value);                           \
        static_assert(known, #Name " takes half or int16_t to int8_t, and float to half");         \
        const auto call = [&](auto instruction) {                                                  \
            instruction(dst, src0, src1, repeat, p.dstBlkStride, p.src0BlkStride, p.src1BlkStride, \
                        p.dstRepStride, p.src0RepStride, p.src1RepStride, false);                  \
        };                                                                                         \
        if constexpr (IsSameType<U, float>::value)                                                 \
            call([](auto... a) { v##op##reluconv_f322f16(a...); });                                \
        else if constexpr (IsSameType<U, half>::value)                                             \
            call([](auto... a) { v##op##reluconv_f162s8(a...); });                                 \
        else                                                                                       \
            call([](auto... a) { v##op##reluconv_s162s8(a...); });                                 \
    }                                                                                              \
    template <typename T, typename U, bool isSetMask = true>                                       \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0,             \
                                const LocalTensor<U>& src1, const MaskOf<U>& mask,                 \
                                const FieldOf<uint8_t> repeatTime,                                 \
                                const BinaryRepeatParams& params) {                                \
        set_mask<isSetMask>(mask);                                                                 \
        convert_##op(dst.pointer(), src0.pointer(), src1.pointer(), repeatTime, params);           \
    }                                                                                              \
    template <typename T, typename U>                                                              \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0,             \
                                const LocalTensor<U>& src1, const uint32_t count) {                \
        const CounterMode mode(count);                                                             \
        BinaryRepeatParams params;                                                                 \
        params.dstRepStride = HALF_DEFAULT_REPEAT_STRIDE;                                          \
        convert_##op(dst.pointer(), src0.pointer(), src1.pointer(), 1, params);                    \
    }
ASC_RELU_CAST(AddReluCast, add)
ASC_RELU_CAST(SubReluCast, sub)
#undef ASC_RELU_CAST

// Relu(half((src0 + src1) scale)), the scale that of SetDeqScale. The sums lie in the reserved end
// of UB, as many repeats of 256 bytes at a time as it holds.
constexpr uint32_t DEQ_RELU_REPEATS = (TOTAL_UB_SIZE - TMP_UB_OFFSET) / ONE_REPEAT_BYTE_SIZE;
__aicore__ inline void add_deq_relu(half* dst, int32_t* src0, int32_t* src1, uint32_t repeats,
                                    const BinaryRepeatParams& p) {
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(int32_t);
    auto* sums = reinterpret_cast<int32_t*>(dav_ub_base() + TMP_UB_OFFSET);
    for (uint32_t done = 0; done < repeats; done += DEQ_RELU_REPEATS) {
        const uint32_t left = repeats - done;
        const auto part = uint8_t(left < DEQ_RELU_REPEATS ? left : DEQ_RELU_REPEATS);
        half* to = dst + done * p.dstRepStride * block * 2;
        vadd(sums, src0 + done * p.src0RepStride * block, src1 + done * p.src1RepStride * block,
             part, 1, p.src0BlkStride, p.src1BlkStride, DEFAULT_REPEAT_STRIDE, p.src0RepStride,
             p.src1RepStride);
        pipe_barrier(PIPE_V);
        vconv_deq(to, sums, part, p.dstBlkStride, 1, p.dstRepStride, DEFAULT_REPEAT_STRIDE);
        pipe_barrier(PIPE_V);
        vrelu(to, to, part, p.dstBlkStride, p.dstBlkStride, p.dstRepStride, p.dstRepStride);
        pipe_barrier(PIPE_V);
    }
}
template <bool isSetMask = true>
__aicore__ inline void AddDeqRelu(const LocalTensor<half>& dst, const LocalTensor<int32_t>& src0,
                                  const LocalTensor<int32_t>& src1, const MaskOf<int32_t>& mask,
                                  const FieldOf<uint8_t> repeatTime,
                                  const BinaryRepeatParams& params) {
    set_mask<isSetMask>(mask);
    add_deq_relu(dst.pointer(), src0.pointer(), src1.pointer(), repeatTime, params);
}
__aicore__ inline void AddDeqRelu(const LocalTensor<half>& dst, const LocalTensor<int32_t>& src0,
                                  const LocalTensor<int32_t>& src1, const Count count) {
    constexpr int32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(int32_t);
    BinaryRepeatParams params;
    params.dstRepStride = HALF_DEFAULT_REPEAT_STRIDE;
    const int32_t elements = count;
    const int32_t body = elements / whole * whole;
    if (body > 0) {
        AscendCUtils::SetMask<int32_t>(whole);
        add_deq_relu(dst.pointer(), src0.pointer(), src1.pointer(), uint32_t(body / whole), params);
    }
    if (elements > body) {
        AscendCUtils::SetMask<int32_t>(elements - body);
        add_deq_relu(dst.pointer() + body, src0.pointer() + body, src1.pointer() + body, 1, params);
    }
    ResetMask();
}
template <typename T, typename U>
__aicore__ inline void AddDeqRelu(const LocalTensor<T>& dst, const LocalTensor<U>& src0,
                                  const LocalTensor<U>& src1, const Count count) {
    static_assert(IsSameType<T, half>::value && IsSameType<U, int32_t>::value,
                  "AddDeqRelu takes int32_t to half");
    AddDeqRelu(dst, src0, src1, count);
}
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void AddDeqRelu(const LocalTensor<T>& dst, const LocalTensor<U>& src0,
                                  const LocalTensor<U>& src1, const MaskOf<U>& mask,
                                  const FieldOf<uint8_t> repeatTime,
                                  const BinaryRepeatParams& params) {
    static_assert(IsSameType<T, half>::value && IsSameType<U, int32_t>::value,
                  "AddDeqRelu takes int32_t to half");
    AddDeqRelu<isSetMask>(dst, src0, src1, mask, repeatTime, params);
}

}  // namespace AscendC
