// ArithProgression, BroadCast, and selection by byte masks.
#pragma once

#include "../api/vector_sort.h"
#include "../api/vector_compare.h"
#include "steps.h"

namespace AscendC {

// first, first + diff, …: the scalar unit writes a block, the rest adds multiples to it.
template <typename T>
__aicore__ inline void ArithProgression(const LocalTensor<T>& dst, const T firstValue,
                                        const T diffValue, const int32_t count) {
    constexpr int32_t block = ONE_BLK_SIZE / sizeof(T);
    constexpr int32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    const int32_t head = count < block ? count : block;
    // Integers wrap as the vector unit's do; they may have more digits than a float.
    using Wide = typename Conditional<std::is_integral<T>::value, int64_t, float>::type;
    const Wide first = firstValue;
    const Wide diff = diffValue;
    for (int32_t i = 0; i < head; ++i) dst.SetValue(uint32_t(i), T(first + diff * Wide(i)));
    order_pipes<HardEvent::S_V>();
    const UnaryRepeatParams params;
    for (int32_t done = block; done < count && done < whole; done += block) {
        const int32_t left = count - done;
        Adds(dst[done], dst[done - block], T(diff * Wide(block)),
             uint64_t(left < block ? left : block), 1, params);
        pipe_barrier(PIPE_V);
    }
    for (int32_t done = whole; done < count; done += whole) {
        const int32_t left = count - done;
        Adds(dst[done], dst[done - whole], T(diff * Wide(whole)),
             uint64_t(left < whole ? left : whole), 1, params);
        pipe_barrier(PIPE_V);
    }
    ResetMask();
}

// Every row of dst (rows of `columns`, a multiple of 32 bytes) becomes the one source row.
template <typename T>
__aicore__ inline void repeat_row(T* dst, T* row, uint32_t rows, uint32_t columns) {
    using Word = typename Conditional<sizeof(T) == 4, uint32_t, uint16_t>::type;
    const uint32_t words = columns * uint32_t(sizeof(T)) / uint32_t(sizeof(Word));
    constexpr uint32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(Word);
    const uint32_t row_blocks = columns * uint32_t(sizeof(T)) / ONE_BLK_SIZE;
    const uint32_t in_place = dst == row ? 1 : 0;  // the first row is there, and the others read it
    for (uint32_t at = 0; at < words; at += whole) {
        AscendCUtils::SetMask<Word>(int32_t(words - at < whole ? words - at : whole));
        for (uint32_t done = in_place; done < rows; done += MAX_REPEAT_TIMES) {
            const uint32_t left = rows - done;
            vcopy((Word*)dst + uint64_t(done) * words + at, (Word*)row + at,
                  uint8_t(left < MAX_REPEAT_TIMES ? left : MAX_REPEAT_TIMES), 1, 1,
                  uint16_t(row_blocks), 0);
        }
    }
    pipe_barrier(PIPE_V);
    ResetMask();
}
// The first columns of each row, without what lies between them; rows are `pitch` blocks apart.
template <typename T>
__aicore__ inline void pack_rows(T* dst, T* src, uint32_t rows, uint32_t columns, uint32_t pitch) {
    set_mask_count();
    set_vector_mask(0, columns);
    vreducev2((BitsType<T>*)dst, (BitsType<T>*)src, (BitsType<T>*)src, uint16_t(rows), 1,
              WHOLE_PATTERN, uint16_t(pitch), 0);
    set_mask_norm();
    pipe_barrier(PIPE_V);
}
// Row r of dst is full of src[r]: blocks of one value, then those blocks repeated along the row.
// Rows that are no whole blocks are made with a gap behind each, and packed.
template <typename T>
__aicore__ inline void repeat_column(T* dst, T* src, uint32_t rows, uint32_t columns,
                                     const LocalTensor<uint8_t>& scratch) {
    static_assert(sizeof(T) >= 2, "BroadCast along the last axis takes 16- or 32-bit elements");
    using Word = BitsType<T>;
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    constexpr uint32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    constexpr uint32_t group = block;  // rows of any length that start and end with a block
    const uint32_t pitch = (columns + block - 1) / block;
    const bool packed = rows > 1 && columns % block != 0;
    const uint32_t space = (ONE_BLK_SIZE + (packed ? pitch * ONE_BLK_SIZE : 0)) * group;
    const uint32_t room = scratch.GetSize() / space * group;
    if (room == 0) {
        dav_fail("BroadCast was given too little temporary space: see GetBroadCastMaxMinTmpSize.");
    }
    constexpr uint32_t limit = MAX_REPEAT_TIMES / group * group;
    const uint32_t most = room < limit ? room : limit;
    Word* blocks = reinterpret_cast<Word*>(scratch.GetPhyAddr());
    Word* rows_apart = blocks + most * block;
    for (uint32_t done = 0; done < rows; done += most) {
        const uint32_t part = rows - done < most ? rows - done : most;
        Word* const to = (Word*)dst + uint64_t(done) * columns;
        Word* const wide = packed ? rows_apart : to;
        ResetMask();
        vbrcb(blocks, (Word*)src + done, 1, DEFAULT_REPEAT_STRIDE,
              uint8_t((part + BRCB_BROADCAST_NUMBER - 1) / BRCB_BROADCAST_NUMBER));
        pipe_barrier(PIPE_V);
        for (uint32_t at = 0; at < columns; at += whole) {
            AscendCUtils::SetMask<T>(int32_t(columns - at < whole ? columns - at : whole));
            vcopy(wide + at, blocks, uint8_t(part), 1, 0, uint16_t(pitch), 1);
        }
        pipe_barrier(PIPE_V);
        if (packed) pack_rows(to, wide, part, columns, pitch);
    }
    ResetMask();
}
// Of the two axes only `axis` may grow, from 1.
template <typename T, int32_t dim, int32_t axis>
__aicore__ inline void check_broadcast(const uint32_t dstShape[dim], const uint32_t srcShape[dim]) {
    if (srcShape[dim == 1 ? 0 : axis] != 1 ||
        (dim == 2 && srcShape[1 - axis] != dstShape[1 - axis])) {
        dav_fail(
            "BroadCast repeats the axis that it is given, which has one element in the source; "
            "the other axis has the same length in both.");
    }
    if (dim == 2 && axis == 0 && srcShape[1] * sizeof(T) % ONE_BLK_SIZE != 0) {
        dav_fail("BroadCast of rows takes rows of whole 32 bytes.");
    }
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
__aicore__ inline void BroadCast(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 const uint32_t dstShape[dim], const uint32_t srcShape[dim],
                                 const LocalTensor<uint8_t>& sharedTmpBuffer) {
    static_assert(dim == 1 || dim == 2, "BroadCast takes tensors of one or two dimensions");
    static_assert(axis == 0 || axis == 1, "BroadCast takes the axes 0 and 1");
    uint32_t elements = 1;
    bool same = true;
    for (int32_t d = 0; d < dim; ++d) {
        elements *= dstShape[d];
        same = same && dstShape[d] == srcShape[d];
    }
    if (same) {
        DataCopy(dst, src,
                 (elements * uint32_t(sizeof(T)) + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE /
                     uint32_t(sizeof(T)));
        pipe_barrier(PIPE_V);
        return;
    }
    check_broadcast<T, dim, axis>(dstShape, srcShape);
    if constexpr (sizeof(T) == 1) {
        // Bytes go through halves: no instruction broadcasts them.
        const uint32_t sources = dim == 1 || axis == 1 ? srcShape[0] : srcShape[1];
        const uint32_t source_bytes = align_to_block(sources * 2);
        const uint32_t result_bytes = align_to_block(elements * 2);
        if (sharedTmpBuffer.GetSize() < source_bytes + result_bytes) {
            dav_fail(
                "BroadCast was given too little temporary space: see GetBroadCastMaxMinTmpSize.");
        }
        LocalTensor<half> in = sharedTmpBuffer.template ReinterpretCast<half>();
        LocalTensor<half> out = sharedTmpBuffer[source_bytes].template ReinterpretCast<half>();
        Cast(in, src, RoundMode::CAST_NONE, sources);
        pipe_barrier(PIPE_V);
        BroadCast<half, dim, axis>(out, in, dstShape, srcShape,
                                   sharedTmpBuffer[source_bytes + result_bytes]);
        Cast(dst, out, RoundMode::CAST_RINT, elements);
        pipe_barrier(PIPE_V);
    } else if constexpr (dim == 1) {
        repeat_column(dst.pointer(), src.pointer(), 1, dstShape[0], sharedTmpBuffer);
    } else if constexpr (axis == 0) {
        repeat_row(dst.pointer(), src.pointer(), dstShape[0], dstShape[1]);
    } else {
        repeat_column(dst.pointer(), src.pointer(), dstShape[0], dstShape[1], sharedTmpBuffer);
    }
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
__aicore__ inline void BroadCast(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 const uint32_t dstShape[dim], const uint32_t srcShape[dim]) {
    BroadCast<T, dim, axis, isReuseSource>(dst, src, dstShape, srcShape, free_scratch());
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false, typename... Rest>
__aicore__ inline void Broadcast(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 const uint32_t dstShape[dim], const uint32_t srcShape[dim],
                                 const Rest&... rest) {
    BroadCast<T, dim, axis, isReuseSource>(dst, src, dstShape, srcShape, rest...);
}

// ---- selection by a byte an element: 0 takes the tensor, anything else the scalar
struct SelectWithBytesMaskShapeInfo {
    ASC_FIELDS(SelectWithBytesMaskShapeInfo, (uint32_t, firstAxis, 0), (uint32_t, srcLastAxis, 0),
               (uint32_t, maskLastAxis, 0))
};
template <bool tensor_where_zero, typename T, typename U>
__aicore__ inline void select_by_bytes(const LocalTensor<T>& dst, const LocalTensor<T>& tensor,
                                       T scalar, const LocalTensor<U>& mask,
                                       const LocalTensor<uint8_t>& scratch,
                                       const SelectWithBytesMaskShapeInfo& info) {
    static_assert(sizeof(U) == 1, "the mask has one byte an element");
    const uint32_t columns = info.srcLastAxis;
    const uint32_t rounded = (columns + 127) / 128 * 128;
    LocalTensor<half> wide = scratch.template ReinterpretCast<half>();
    LocalTensor<uint8_t> bits = scratch[rounded * uint32_t(sizeof(half))];
    if (scratch.GetSize() < rounded * sizeof(half) + rounded / 8) {
        dav_fail("Select with a byte mask was given too little temporary space for one row.");
    }
    for (uint32_t row = 0; row < info.firstAxis; ++row) {
        if (rounded != columns) {
            Duplicate(wide, half(0), int32_t(rounded));
            pipe_barrier(PIPE_V);
        }
        Cast(wide, mask[row * info.maskLastAxis].template ReinterpretCast<uint8_t>(),
             RoundMode::CAST_NONE, columns);
        pipe_barrier(PIPE_V);
        CompareScalar(bits, wide, half(0), tensor_where_zero ? CMPMODE::EQ : CMPMODE::NE, rounded);
        pipe_barrier(PIPE_V);
        Select(dst[row * columns], bits, tensor[row * columns], scalar,
               SELMODE::VSEL_TENSOR_SCALAR_MODE, columns);
        pipe_barrier(PIPE_V);
    }
}
template <typename T, typename U, bool isReuseMask = true>
__aicore__ inline void Select(const LocalTensor<T>& dst, const LocalTensor<T>& src0, T src1,
                              const LocalTensor<U>& mask,
                              const LocalTensor<uint8_t>& sharedTmpBuffer,
                              const SelectWithBytesMaskShapeInfo& info) {
    select_by_bytes<true>(dst, src0, src1, mask, sharedTmpBuffer, info);
}
template <typename T, typename U, bool isReuseMask = true>
__aicore__ inline void Select(const LocalTensor<T>& dst, T src0, const LocalTensor<T>& src1,
                              const LocalTensor<U>& mask,
                              const LocalTensor<uint8_t>& sharedTmpBuffer,
                              const SelectWithBytesMaskShapeInfo& info) {
    select_by_bytes<false>(dst, src1, src0, mask, sharedTmpBuffer, info);
}
// The older name.
template <typename T, typename U, bool isReuseMask = true>
__aicore__ inline void SelectWithBytesMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                                           T src1, const LocalTensor<U>& mask,
                                           const LocalTensor<uint8_t>& sharedTmpBuffer,
                                           const SelectWithBytesMaskShapeInfo& info) {
    select_by_bytes<true>(dst, src0, src1, mask, sharedTmpBuffer, info);
}
template <typename T, typename U, bool isReuseMask = true>
__aicore__ inline void SelectWithBytesMask(const LocalTensor<T>& dst, T src0,
                                           const LocalTensor<T>& src1, const LocalTensor<U>& mask,
                                           const LocalTensor<uint8_t>& sharedTmpBuffer,
                                           const SelectWithBytesMaskShapeInfo& info) {
    select_by_bytes<false>(dst, src1, src0, mask, sharedTmpBuffer, info);
}

}  // namespace AscendC
