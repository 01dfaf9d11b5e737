// Pad and UnPad: rows of a matrix that get columns up to whole 32 bytes, or lose some of them.
#pragma once

#include "../api/data_copy.h"
#include "../api/vector_gather.h"
#include "../kernel_tiling/kernel_tiling.h"
#include "index_pad.h"

namespace AscendC {

struct PadParams {
    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
    int32_t padValue = 0;
};
struct UnPadParams {
    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
};

// `columns` of a block from lane `first` on, the block of each row that `dst` points to.
template <typename T>
__aicore__ inline void fill_columns(T* dst, T value, uint32_t first, uint32_t columns,
                                    uint32_t rows, uint32_t pitch_blocks) {
    if (columns == 0) return;
    const uint64_t lanes = ((uint64_t(1) << columns) - 1) << first;
    for (uint32_t done = 0; done < rows; done += MAX_REPEAT_TIMES) {
        const uint32_t left = rows - done;
        set_vector_mask(0, lanes);
        vector_dup(dst + uint64_t(done) * pitch_blocks * ONE_BLK_SIZE / sizeof(T), value,
                   uint8_t(left < MAX_REPEAT_TIMES ? left : MAX_REPEAT_TIMES), 1, 1,
                   uint16_t(pitch_blocks), 0);
    }
    pipe_barrier(PIPE_V);
    ResetMask();
}
// Rows that are no whole blocks are gathered one by one, from where their first column would lie;
// rows of whole blocks are copied.
template <typename T>
__aicore__ inline void Pad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                           const PadParams& padParams, const LocalTensor<uint8_t>& sharedTmpBuffer,
                           const PadTiling& tiling) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Pad takes 16- and 32-bit elements");
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    const uint32_t width = tiling.srcWidth;
    const uint32_t blocks = (width + block - 1) / block;
    const uint32_t pitch = blocks * block;
    const uint32_t left = padParams.leftPad;
    const uint32_t right = padParams.rightPad;
    if (width % block != 0) {
        if (width + left + right > pitch) {
            dav_fail("Pad fills a row up to its next whole 32 bytes at most.");
        }
        if (sharedTmpBuffer.GetSize() < pitch * sizeof(int32_t)) {
            dav_fail("Pad was given too little temporary space: see GetPadMaxMinTmpSize.");
        }
        const LocalTensor<int32_t> offsets = sharedTmpBuffer.template ReinterpretCast<int32_t>();
        ArithProgression(offsets, -int32_t(left * sizeof(T)), int32_t(sizeof(T)), int32_t(pitch));
        // What lies outside of the row may lie outside of the source, too.
        Maxs(offsets, offsets, 0, int32_t(pitch));
        pipe_barrier(PIPE_V);
        Mins(offsets, offsets, int32_t((width - 1) * sizeof(T)), int32_t(pitch));
        pipe_barrier(PIPE_V);
        for (uint32_t row = 0; row < tiling.srcHeight; ++row) {
            Gather(dstTensor[row * pitch], srcTensor, offsets.template ReinterpretCast<uint32_t>(),
                   row * width * uint32_t(sizeof(T)), pitch);
        }
        pipe_barrier(PIPE_V);
        fill_columns(dstTensor.pointer(), T(padParams.padValue), 0, left, tiling.srcHeight, blocks);
    } else {
        if (left != 0) dav_fail("Pad of rows of whole 32 bytes fills columns on the right only.");
        if (right >= block) dav_fail("Pad fills less than 32 bytes of a row.");
        DataCopy(dstTensor, srcTensor, tiling.srcHeight * width);
        pipe_barrier(PIPE_V);
    }
    const uint32_t first = width % block != 0 ? left + width : width - right;
    const uint32_t lane = first % block;
    fill_columns(dstTensor.pointer() + first / block * block, T(padParams.padValue), lane, right,
                 tiling.srcHeight, blocks);
}
template <typename T>
__aicore__ inline void Pad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                           const PadParams& padParams, const PadTiling& tiling) {
    Pad(dstTensor, srcTensor, padParams, free_scratch(), tiling);
}

template <typename T>
__aicore__ inline void UnPad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                             const UnPadParams& unPadParams, const LocalTensor<uint8_t>&,
                             const UnPadTiling& tiling) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "UnPad takes 16- and 32-bit elements");
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    if (unPadParams.leftPad != 0) dav_fail("UnPad takes columns away on the right only.");
    if (tiling.srcWidth % block != 0 || unPadParams.rightPad == 0 ||
        unPadParams.rightPad >= block) {
        dav_fail("UnPad takes rows of whole 32 bytes, and less than 32 bytes of each away.");
    }
    pack_rows(dstTensor.pointer(), srcTensor.pointer(), tiling.srcHeight,
              tiling.srcWidth - unPadParams.rightPad, tiling.srcWidth / block);
    ResetMask();
}
template <typename T>
__aicore__ inline void UnPad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                             const UnPadParams& unPadParams, const UnPadTiling& tiling) {
    UnPad(dstTensor, srcTensor, unPadParams, LocalTensor<uint8_t>(), tiling);
}

}  // namespace AscendC
