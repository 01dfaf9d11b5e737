// Transpose: a matrix [H, W] becomes [W, H], by lists of 16 addresses.
#pragma once

#include "../api/vector_gather.h"
#include "../kernel_tiling/kernel_tiling.h"

namespace AscendC {

// H and W are multiples of 16. One instruction turns 16 rows of a block; its repeats go down H.
template <typename T>
__aicore__ inline void transpose_matrix(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                        uint32_t height, uint32_t width) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Transpose takes 16- or 32-bit elements");
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    constexpr uint32_t lists = NCHW_CONV_ADDR_LIST_SIZE;
    constexpr uint32_t halves = lists / block;  // blocks that 16 elements of dst take
    const uint32_t repeats = height / lists;
    TransDataTo5HDParams params;
    params.repeatTimes = uint8_t(repeats);
    params.dstRepStride = repeats > 1 ? uint16_t(halves) : uint16_t(0);
    params.srcRepStride =
        repeats > 1 ? uint16_t(lists * width * sizeof(T) / ONE_BLK_SIZE) : uint16_t(0);
    for (uint32_t at = 0; at < width; at += block) {
        uint64_t to[lists];
        uint64_t from[lists];
        for (uint32_t i = 0; i < lists; ++i) {
            from[i] = uint64_t(src[i * width + at].GetPhyAddr());
            to[i] = uint64_t(dst[(at + i / halves) * height + i % halves * block].GetPhyAddr());
        }
        TransDataTo5HD<T>(to, from, params);
    }
    pipe_barrier(PIPE_V);
}

template <typename T>
__aicore__ inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 const LocalTensor<uint8_t>& sharedTmpBuffer,
                                 TransposeType transposeType,
                                 const ConfusionTransposeTiling& tiling) {
    if (transposeType != TransposeType::TRANSPOSE_ND2ND_ONLY) {
        dav_fail("Of Transpose's kinds only TRANSPOSE_ND2ND_ONLY is known.");
    }
    transpose_matrix(dst, src, tiling.param1, tiling.param2);
}
template <typename T>
__aicore__ inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 TransposeType transposeType,
                                 const ConfusionTransposeTiling& tiling) {
    Transpose(dst, src, LocalTensor<uint8_t>(), transposeType, tiling);
}
// The older name.
template <typename T, typename... Rest>
__aicore__ inline void ConfusionTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                          Rest&&... rest) {
    Transpose(dst, src, rest...);
}

}  // namespace AscendC
