// Filling, copying and broadcasting inside the unified buffer: Duplicate, Copy, Brcb,
// CreateVecIndex.
#pragma once

#include "vector_unary.h"

namespace AscendC {

template <typename T, bool isSetMask = true>
__aicore__ inline void DuplicateImpl(__ubuf__ T* dst, const T& value, const MaskOf<T>& mask,
                                     const FieldOf<uint8_t> repeat,
                                     const FieldOf<uint16_t> dst_block,
                                     const FieldOf<uint8_t> dst_repeat) {
    set_mask<isSetMask>(mask);
    vector_dup(dst, value, repeat, dst_block, 1, dst_repeat, 0);
}
template <typename T>
__aicore__ inline void DuplicateImpl(__ubuf__ T* dst, const T& value, const Count count) {
    const CounterMode mode(count);
    vector_dup(dst, value, 1, 1, 1, DEFAULT_REPEAT_STRIDE, 0);
}
template <typename T, bool isSetMask = true>
__aicore__ inline void Duplicate(const LocalTensor<T>& dst, ScalarOf<T> scalarValue,
                                 const MaskOf<T>& mask, const FieldOf<uint8_t> repeatTime,
                                 const FieldOf<uint16_t> dstBlockStride,
                                 const FieldOf<uint8_t> dstRepeatStride) {
    DuplicateImpl<T, isSetMask>(dst.pointer(), static_cast<const T&>(scalarValue), mask, repeatTime,
                                dstBlockStride, dstRepeatStride);
}
template <typename T>
__aicore__ inline void Duplicate(const LocalTensor<T>& dst, ScalarOf<T> scalarValue,
                                 const Count count) {
    DuplicateImpl(dst.pointer(), static_cast<const T&>(scalarValue), count);
}

// Copy with a mask moves 16- or 32-bit elements as they are.
template <typename T, bool isSetMask = true>
__aicore__ inline void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                            const MaskOf<T>& mask, const FieldOf<uint8_t> repeatTime,
                            const CopyRepeatParams& params) {
    ASC_LIMIT(params.dstRepeatSize <= 4095 && params.srcRepeatSize <= 4095,
              "Copy takes distances between repeats up to 4095 blocks.");
    set_mask<isSetMask>(mask);
    vcopy((BitsType<T>*)dst.pointer(), (BitsType<T>*)src.pointer(), repeatTime, params.dstStride,
          params.srcStride, params.dstRepeatSize, params.srcRepeatSize);
}

// Eight elements of the source become eight 32-byte blocks, each full of one element.
template <typename T>
__aicore__ inline void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                            const FieldOf<uint8_t> repeatTime, const BrcbRepeatParams& params) {
    ResetMask();
    vbrcb((BitsType<T>*)dst.pointer(), (BitsType<T>*)src.pointer(), params.dstBlkStride,
          params.dstRepStride, repeatTime);
}

// ---- first, first + 1, …
template <typename T> __aicore__ inline T vector_index_value(const T& first, int32_t offset) {
    if constexpr (std::is_integral<T>::value) return T(first + offset);
    return T(float(first) + float(offset));
}
// The scalar unit writes the first block; every further block, then repeat, is the one before it
// plus a constant.
template <typename T>
__aicore__ inline void CreateVecIndex(LocalTensor<T> dst, const T& firstValue, uint32_t count) {
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    constexpr uint32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    const uint32_t head = count < block ? count : block;
    for (uint32_t i = 0; i < head; ++i) dst.SetValue(i, vector_index_value(firstValue, int32_t(i)));
    order_pipes<HardEvent::S_V>();
    const UnaryRepeatParams params;
    for (uint32_t done = block; done < count && done < whole; done += block) {
        const uint32_t left = count - done;
        Adds(dst[done], dst[done - block], T(block), uint64_t(left < block ? left : block), 1,
             params);
        pipe_barrier(PIPE_V);
    }
    for (uint32_t done = whole; done < count; done += whole) {
        const uint32_t left = count - done;
        Adds(dst[done], dst[done - whole], T(whole), uint64_t(left < whole ? left : whole), 1,
             params);
        pipe_barrier(PIPE_V);
    }
}
template <typename T>
__aicore__ inline void CreateVecIndex(LocalTensor<T>& dst, const T& firstValue, uint64_t mask,
                                      FieldOf<uint8_t> repeatTime, FieldOf<uint16_t> dstBlkStride,
                                      FieldOf<uint8_t> dstRepStride) {
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    constexpr uint32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    const uint32_t head = mask < block ? uint32_t(mask) : block;
    for (uint32_t i = 0; i < head; ++i) dst.SetValue(i, vector_index_value(firstValue, int32_t(i)));
    order_pipes<HardEvent::S_V>();
    UnaryRepeatParams params;
    for (uint32_t done = block; done < mask; done += block) {
        const uint32_t at = done / block * block * dstBlkStride;
        const uint64_t left = mask - done;
        Adds(dst[at], dst[at - block * dstBlkStride], T(block), left < block ? left : block, 1,
             params);
        pipe_barrier(PIPE_V);
    }
    params.dstBlkStride = params.srcBlkStride = dstBlkStride;
    for (uint32_t repeat = 1; repeat < repeatTime; ++repeat) {
        const uint32_t at = repeat * dstRepStride * block;
        Adds(dst[at], dst[at - dstRepStride * block], T(whole), mask, 1, params);
        pipe_barrier(PIPE_V);
    }
}
template <typename T>
__aicore__ inline void CreateVecIndex(LocalTensor<T>& dst, const T& firstValue, uint64_t mask[],
                                      FieldOf<uint8_t> repeatTime, FieldOf<uint16_t> dstBlkStride,
                                      FieldOf<uint8_t> dstRepStride) {
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    constexpr uint32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    for (uint32_t i = 0; i < whole && i < 128; ++i) {
        if (((mask[i / 64] >> (i % 64)) & 1) == 0) continue;
        dst.SetValue(i / block * block * dstBlkStride + i % block,
                     vector_index_value(firstValue, int32_t(i)));
    }
    order_pipes<HardEvent::S_V>();
    UnaryRepeatParams params;
    params.dstBlkStride = params.srcBlkStride = dstBlkStride;
    for (uint32_t repeat = 1; repeat < repeatTime; ++repeat) {
        const uint32_t at = repeat * dstRepStride * block;
        Adds(dst[at], dst[at - dstRepStride * block], T(whole), mask, 1, params);
        pipe_barrier(PIPE_V);
    }
}

}  // namespace AscendC
