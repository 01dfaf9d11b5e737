// TopK: the k largest or smallest of each row, with their indices, by a full sort of the row.
#pragma once

#include "../api/vector_sort.h"
#include "../kernel_tiling/kernel_tiling.h"
#include "index_pad.h"

namespace AscendC {

enum class TopKMode { TOPK_NORMAL, TOPK_NSMALL };
enum class TopKAlgo { RADIX_SELECT, MERGE_SORT };
enum class TopKOrder { UNSET, LARGEST, SMALLEST };
struct TopKConfig {
    TopKAlgo algo = TopKAlgo::MERGE_SORT;
    TopKOrder order = TopKOrder::UNSET;
    bool sorted = true;
};
constexpr TopKConfig defaultTopKConfig = {TopKAlgo::MERGE_SORT, TopKOrder::UNSET, true};
struct TopKInfo {
    int32_t outter = 1;
    int32_t inner = 0;  // elements a row takes, a multiple of 32
    int32_t n = 0;      // elements of it that count
};

// Space of one call: sorted pairs, and pairs that are merged or a mask, indices, negated values.
template <typename T> struct TopKSpace {
    __aicore__ TopKSpace(const LocalTensor<uint8_t>& scratch, uint32_t elements, uint32_t indices,
                         bool negated) {
        const uint32_t pairs = elements * SORT_ELEMENT_BYTES;
        const uint32_t need = 2 * pairs + indices * uint32_t(sizeof(int32_t)) +
                              (negated ? elements * uint32_t(sizeof(T)) : 0);
        if (scratch.GetSize() < need) {
            dav_fail("TopK was given too little temporary space: see GetTopKMaxMinTmpSize.");
        }
        sorted = scratch.template ReinterpretCast<T>();
        other = scratch[pairs].template ReinterpretCast<T>();
        index = scratch[2 * pairs].template ReinterpretCast<int32_t>();
        values =
            scratch[2 * pairs + indices * uint32_t(sizeof(int32_t))].template ReinterpretCast<T>();
    }
    LocalTensor<T> sorted;
    LocalTensor<T> other;
    LocalTensor<int32_t> index;
    LocalTensor<T> values;
};

// Of the first sorted pairs the values and the indices, in whole blocks.
template <typename T>
__aicore__ inline void extract_first(const LocalTensor<T>& value, const LocalTensor<int32_t>& index,
                                     const LocalTensor<T>& sorted, uint32_t k) {
    constexpr uint32_t lanes = SORT_ELEMENT_BYTES / sizeof(T);
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    const GatherMaskParams words(1, 1, DEFAULT_REPEAT_STRIDE, 0);
    uint64_t count = 0;
    GatherMask(index, sorted.template ReinterpretCast<int32_t>(), uint8_t(2), true,
               (k + 7) / 8 * 8 * 2, words, count);
    pipe_barrier(PIPE_V);
    GatherMask(value, sorted, uint8_t(sizeof(T) == 2 ? 3 : 1), true,
               (k + block - 1) / block * block * lanes, words, count);
    pipe_barrier(PIPE_V);
    ResetMask();
}

// Rows of any length up to 4096: each is sorted whole. A finished row's indices are n.
template <bool indices_given, bool has_finish, typename T>
__aicore__ inline void topk_rows(const LocalTensor<T>& value, const LocalTensor<int32_t>& index,
                                 const LocalTensor<T>& src, const LocalTensor<int32_t>& given,
                                 const LocalTensor<bool>& finish,
                                 const LocalTensor<uint8_t>& scratch, uint32_t k,
                                 const TopKInfo& info, bool largest) {
    const auto inner = uint32_t(info.inner);
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    const uint32_t value_pitch = (k + block - 1) / block * block;
    const uint32_t index_pitch = (k + 7) / 8 * 8;
    TopKSpace<T> space(scratch, inner, indices_given ? 0 : inner, !largest);
    if constexpr (!indices_given) ArithProgression(space.index, 0, 1, info.inner);
    const LocalTensor<uint32_t> order =
        (indices_given ? given : space.index).template ReinterpretCast<uint32_t>();
    for (uint32_t row = 0; row < uint32_t(info.outter); ++row) {
        LocalTensor<T> from = src[row * inner];
        if (!largest) {
            Muls(space.values, from, T(-1), info.inner);
            pipe_barrier(PIPE_V);
            from = space.values;
        }
        Sort<T, true>(space.sorted, from, order, space.other, info.inner / int32_t(SORT_GROUP));
        pipe_barrier(PIPE_V);
        extract_first(value[row * value_pitch], index[row * index_pitch], space.sorted, k);
        if constexpr (has_finish) {
            order_pipes<HardEvent::V_S>();
            if (finish.GetValue(row)) {
                order_pipes<HardEvent::S_V>();
                Duplicate(index[row * index_pitch], info.n, int32_t(index_pitch));
                pipe_barrier(PIPE_V);
            }
        }
    }
    if (!largest) {
        Muls(value, value, T(-1), int32_t(uint32_t(info.outter) * value_pitch));
        pipe_barrier(PIPE_V);
    }
}

// Rows of 32: one instruction sorts all; the results lie k apart, without a gap.
template <bool indices_given, typename T>
__aicore__ inline void topk_small(const LocalTensor<T>& value, const LocalTensor<int32_t>& index,
                                  const LocalTensor<T>& src, const LocalTensor<int32_t>& given,
                                  const LocalTensor<uint8_t>& scratch, uint32_t k,
                                  const TopKInfo& info, bool largest) {
    const auto rows = uint32_t(info.outter);
    const uint32_t elements = rows * SORT_GROUP;
    TopKSpace<T> space(scratch, elements, indices_given ? 0 : elements, !largest);
    if constexpr (!indices_given) {
        for (uint32_t row = 0; row < rows; ++row) {
            ArithProgression(space.index[row * SORT_GROUP], 0, 1, int32_t(SORT_GROUP));
        }
    }
    LocalTensor<T> from = src;
    if (!largest) {
        Muls(space.values, src, T(-1), int32_t(elements));
        pipe_barrier(PIPE_V);
        from = space.values;
    }
    Sort32(space.sorted, from,
           (indices_given ? given : space.index).template ReinterpretCast<uint32_t>(),
           int32_t(rows));
    pipe_barrier(PIPE_V);
    // A repeat holds the 32 pairs of a row: bits of the first k, for words, then for values.
    using Bits = typename Conditional<sizeof(T) == 4, uint32_t, uint16_t>::type;
    constexpr uint32_t lanes = SORT_ELEMENT_BYTES / sizeof(T);
    constexpr uint32_t width = 8 * sizeof(Bits);
    LocalTensor<uint32_t> words = space.other.template ReinterpretCast<uint32_t>();
    LocalTensor<Bits> firsts = words[8].template ReinterpretCast<Bits>();
    for (uint32_t at = 0; at < 2; ++at) {
        uint32_t bits = 0;
        for (uint32_t i = 0; i < 16; ++i) bits |= (at * 16 + i < k ? 2U : 0U) << (2 * i);
        words.SetValue(at, bits);
    }
    for (uint32_t at = 0; at < SORT_GROUP * lanes / width; ++at) {
        uint32_t bits = 0;
        for (uint32_t i = 0; i < width / lanes; ++i) {
            bits |= (at * (width / lanes) + i < k ? 1U : 0U) << (lanes * i);
        }
        firsts.SetValue(at, Bits(bits));
    }
    order_pipes<HardEvent::S_V>();
    const GatherMaskParams params(1, uint16_t(rows), DEFAULT_REPEAT_STRIDE, 0);
    uint64_t count = 0;
    GatherMask(index.template ReinterpretCast<uint32_t>(),
               space.sorted.template ReinterpretCast<uint32_t>(), words, false, 0, params, count);
    pipe_barrier(PIPE_V);
    GatherMask(value, space.sorted, firsts, false, 0, params, count);
    pipe_barrier(PIPE_V);
    if (!largest) {
        Muls(value, value, T(-1), int32_t(rows * k));
        pipe_barrier(PIPE_V);
    }
}

template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          enum TopKMode topkMode = TopKMode::TOPK_NORMAL,
          const TopKConfig& config = defaultTopKConfig>
__aicore__ inline void TopK(
    const LocalTensor<T>& dstValueLocal, const LocalTensor<int32_t>& dstIndexLocal,
    const LocalTensor<T>& srcLocal, const LocalTensor<int32_t>& srcIndexLocal,
    const LocalTensor<bool>& finishLocal, const LocalTensor<uint8_t>& tmpLocal, const int32_t k,
    const TopkTiling& tilling, const TopKInfo& topKInfo, const bool isLargest = true) {
    const bool largest =
        config.order == TopKOrder::UNSET ? isLargest : config.order == TopKOrder::LARGEST;
    if constexpr (topkMode == TopKMode::TOPK_NSMALL) {
        static_assert(!isHasfinish, "TopK's small mode knows no finished rows");
        topk_small<isInitIndex>(dstValueLocal, dstIndexLocal, srcLocal, srcIndexLocal, tmpLocal,
                                uint32_t(k), topKInfo, largest);
    } else {
        topk_rows<isInitIndex, isHasfinish>(dstValueLocal, dstIndexLocal, srcLocal, srcIndexLocal,
                                            finishLocal, tmpLocal, uint32_t(k), topKInfo, largest);
    }
}
template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          enum TopKMode topkMode = TopKMode::TOPK_NORMAL,
          const TopKConfig& config = defaultTopKConfig>
__aicore__ inline void TopK(const LocalTensor<T>& dstValueLocal,
                            const LocalTensor<int32_t>& dstIndexLocal,
                            const LocalTensor<T>& srcLocal,
                            const LocalTensor<int32_t>& srcIndexLocal,
                            const LocalTensor<bool>& finishLocal, const int32_t k,
                            const TopkTiling& tilling, const TopKInfo& topKInfo,
                            const bool isLargest = true) {
    TopK<T, isInitIndex, isHasfinish, isReuseSrc, topkMode, config>(
        dstValueLocal, dstIndexLocal, srcLocal, srcIndexLocal, finishLocal, free_scratch(), k,
        tilling, topKInfo, isLargest);
}

}  // namespace AscendC
