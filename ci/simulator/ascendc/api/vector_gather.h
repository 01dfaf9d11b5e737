// Gathering by offsets, compaction by mask, and layout changes inside the unified buffer.
#pragma once

#include "vector_reduce.h"

namespace AscendC {

// Kernels for many dtypes name this for elements that it cannot take too, and never come there.
template <typename T>
__aicore__ inline void gather_repeats(T* dst, uint32_t* offsets, uint32_t base, uint16_t stride,
                                      uint8_t repeats) {
    if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
        vgather((BitsType<T>*)dst, offsets, base, stride, repeats);
    } else {
        dav_fail("Gather takes elements of 2 or 4 bytes.");
    }
}
// Offsets are in bytes from the source plus srcBaseAddr.
template <typename T>
__aicore__ inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                              const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseAddr,
                              const MaskOf<T>& mask, const FieldOf<uint8_t> repeatTime,
                              const FieldOf<uint16_t> dstRepStride) {
    set_mask(mask);
    ASC_LIVE(src.address_);
    ASC_USE(src.GetPhyAddr() + srcBaseAddr, src.address_);
    gather_repeats(dst.pointer(), srcOffset.pointer(), uint32_t(src.GetPhyAddr() + srcBaseAddr),
                   dstRepStride, repeatTime);
}
// Whole repeats, at most 255 at a time, and a masked rest.
template <typename T>
__aicore__ inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                              const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseAddr,
                              const uint32_t count) {
    constexpr uint32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    constexpr uint16_t stride = DEFAULT_REPEAT_STRIDE;
    uint32_t done = 0;
    while (count - done >= whole) {
        const uint32_t repeats = (count - done) / whole;
        const uint32_t part = repeats < MAX_REPEAT_TIMES ? repeats : MAX_REPEAT_TIMES;
        Gather(dst[done], src, srcOffset[done], srcBaseAddr, uint64_t(whole), uint8_t(part),
               stride);
        done += part * whole;
    }
    if (done < count) {
        Gather(dst[done], src, srcOffset[done], srcBaseAddr, uint64_t(count - done), uint8_t(1),
               stride);
    }
}
// Whole 32-byte blocks by offset.
template <typename T>
__aicore__ inline void Gatherb(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                               const LocalTensor<uint32_t>& offset,
                               const FieldOf<uint8_t> repeatTime,
                               const GatherRepeatParams& params) {
    ResetMask();
    ASC_LIVE(src.address_);
    ASC_USE(src.GetPhyAddr(), src.address_);
    vgatherb((BitsType<T>*)dst.pointer(), offset.pointer(), uint32_t(src.GetPhyAddr()),
             params.dstRepStride, params.dstBlkStride, repeatTime);
}

constexpr uint8_t WHOLE_PATTERN = 7;  // picks all elements
// The elements that the pattern picks, packed; rsvdCnt says how many came out. In reduce mode the
// mask counts the elements of a repeat, else whole repeats of 256 bytes are taken.
template <typename T>
__aicore__ inline void gather_mask(T* dst, T* src0, void* src1, uint8_t pattern, bool reduceMode,
                                   uint32_t mask, const GatherMaskParams& params,
                                   uint64_t& rsvdCnt) {
    if (reduceMode) {
        set_mask_count();
        set_vector_mask(0, mask);
    } else {
        set_mask_norm();
        set_vector_mask(0, mask);
    }
    vreducev2((BitsType<T>*)dst, (BitsType<T>*)src0, (BitsType<T>*)src1, params.repeatTimes,
              params.src0BlockStride, pattern, params.src0RepeatStride, params.src1RepeatStride);
    rsvdCnt = uint64_t(get_rsvd_cnt());
    set_mask_norm();
}
template <typename T, typename U>
__aicore__ inline void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                                  const LocalTensor<U>& src1Pattern, const bool reduceMode,
                                  const uint32_t mask, const GatherMaskParams& params,
                                  uint64_t& rsvdCnt) {
    gather_mask(dst.pointer(), src0.pointer(), src1Pattern.pointer(), 0, reduceMode, mask, params,
                rsvdCnt);
}
// Patterns 1..7: odd, even, every fourth from 0..3, all.
template <typename T>
__aicore__ inline void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                                  const uint8_t src1Pattern, const bool reduceMode,
                                  const uint32_t mask, const GatherMaskParams& params,
                                  uint64_t& rsvdCnt) {
    gather_mask(dst.pointer(), src0.pointer(), src0.pointer(), src1Pattern, reduceMode, mask,
                params, rsvdCnt);
}

// ---- transposition of 16 address lists
template <typename T> __aicore__ inline void scatter_lists(const TransDataTo5HDParams& params) {
    if constexpr (sizeof(T) == 1) {
        scatter_vnchwconv_b8(VA0, VA2, params.repeatTimes, params.dstRepStride, params.srcRepStride,
                             params.dstHighHalf, params.srcHighHalf);
    } else if constexpr (sizeof(T) == 2) {
        scatter_vnchwconv_b16(VA0, VA2, params.repeatTimes, params.dstRepStride,
                              params.srcRepStride);
    } else {
        scatter_vnchwconv_b32(VA0, VA2, params.repeatTimes, params.dstRepStride,
                              params.srcRepStride);
    }
}
template <typename T>
__aicore__ inline void TransDataTo5HDImpl(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE],
                                          uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                                          const TransDataTo5HDParams& params) {
    set_va_reg_sb(VA0, dstList);
    set_va_reg_sb(VA1, dstList + VA_REG_ARRAY_LEN);
    set_va_reg_sb(VA2, srcList);
    set_va_reg_sb(VA3, srcList + VA_REG_ARRAY_LEN);
    scatter_lists<T>(params);
}
template <typename T>
__aicore__ inline void TransDataTo5HDImpl(__ubuf__ T* dstList[16], __ubuf__ T* srcList[16],
                                          const TransDataTo5HDParams& params) {
    uint64_t dst[NCHW_CONV_ADDR_LIST_SIZE];
    uint64_t src[NCHW_CONV_ADDR_LIST_SIZE];
    for (uint32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
        dst[i] = reinterpret_cast<uint64_t>(dstList[i]);
        src[i] = reinterpret_cast<uint64_t>(srcList[i]);
    }
    TransDataTo5HDImpl<T>(dst, src, params);
}
template <typename T>
__aicore__ inline void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE],
                                      const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE],
                                      const TransDataTo5HDParams& params) {
    uint64_t dst[NCHW_CONV_ADDR_LIST_SIZE];
    uint64_t src[NCHW_CONV_ADDR_LIST_SIZE];
    for (uint32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
        dst[i] = dstList[i].GetPhyAddr();
        src[i] = srcList[i].GetPhyAddr();
    }
    TransDataTo5HDImpl<T>(dst, src, params);
}
template <typename T>
__aicore__ inline void TransDataTo5HD(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE],
                                      uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                                      const TransDataTo5HDParams& params) {
    TransDataTo5HDImpl<T>(dstList, srcList, params);
}
// The lists lie in UB themselves.
template <typename T>
__aicore__ inline void TransDataTo5HD(const LocalTensor<uint64_t>& dstList,
                                      const LocalTensor<uint64_t>& srcList,
                                      const TransDataTo5HDParams& params) {
    vld_va_reg(VA0, dstList.pointer(), L128);
    vld_va_reg(VA1, dstList.pointer(), H128);
    vld_va_reg(VA2, srcList.pointer(), L128);
    vld_va_reg(VA3, srcList.pointer(), H128);
    scatter_lists<T>(params);
}

// 16 x 16 elements of 16 bits.
template <typename T>
__aicore__ inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src) {
    vtranspose((uint16_t*)dst.pointer(), (uint16_t*)src.pointer());
}
// [N, C, H*W] to [N, H*W, C] or back.
template <typename T>
__aicore__ inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 const LocalTensor<uint8_t>&, const TransposeParamsExt& params) {
    if (params.transposeType == TransposeType::TRANSPOSE_ND2ND_B16) {
        vtranspose((uint16_t*)dst.pointer(), (uint16_t*)src.pointer());
        return;
    }
    const bool to_nchw = params.transposeType == TransposeType::TRANSPOSE_NHWC2NCHW;
    const uint32_t pixels = uint32_t(params.hSize) * params.wSize;
    for (uint32_t n = 0; n < params.nSize; ++n) {
        const uint32_t at = n * pixels * params.cSize;
        v4dtrans((BitsType<T>*)dst.pointer() + at, (BitsType<T>*)src.pointer() + at, pixels,
                 params.cSize, to_nchw);
    }
}

}  // namespace AscendC
