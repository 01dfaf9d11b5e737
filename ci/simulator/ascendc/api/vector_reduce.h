// Reductions: within blocks, pairs and repeats, and over whole tensors.
#pragma once

#include "utils.h"

namespace AscendC {

#define ASC_REDUCE(Name, intrinsic)                                                              \
    template <typename T, bool isSetMask = true>                                                 \
    __aicore__ inline void Name(                                                                 \
        const LocalTensor<T>& dst, const LocalTensor<T>& src, const FieldOf<uint8_t> repeatTime, \
        const MaskOf<T>& mask, const FieldOf<uint16_t> dstRepStride,                             \
        const FieldOf<uint16_t> srcBlkStride, const FieldOf<uint16_t> srcRepStride) {            \
        set_mask<isSetMask>(mask);                                                               \
        intrinsic(dst.pointer(), src.pointer(), repeatTime, dstRepStride, srcBlkStride,          \
                  srcRepStride);                                                                 \
    }
ASC_REDUCE(BlockReduceSum, vcgadd)
ASC_REDUCE(BlockReduceMax, vcgmax)
ASC_REDUCE(BlockReduceMin, vcgmin)
ASC_REDUCE(PairReduceSum, vcpadd)
#undef ASC_REDUCE
// What these lower to, under the names that kernels call with addresses; the mask is set.
#define ASC_REDUCE_IMPL(Name, intrinsic)                                            \
    template <typename T>                                                           \
    __aicore__ inline void Name(                                                    \
        __ubuf__ T* dst, __ubuf__ T* src, const FieldOf<uint8_t> repeatTime,        \
        const FieldOf<uint16_t> dstRepStride, const FieldOf<uint16_t> srcBlkStride, \
        const FieldOf<uint16_t> srcRepStride) {                                     \
        intrinsic(dst, src, repeatTime, dstRepStride, srcBlkStride, srcRepStride);  \
    }
ASC_REDUCE_IMPL(BlockReduceSumIntrinsicsImpl, vcgadd)
ASC_REDUCE_IMPL(BlockReduceMaxIntrinsicsImpl, vcgmax)
ASC_REDUCE_IMPL(BlockReduceMinIntrinsicsImpl, vcgmin)
#undef ASC_REDUCE_IMPL

template <typename T, bool isSetMask = true>
__aicore__ inline void RepeatReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                       const FieldOf<uint8_t> repeatTime,
                                       const int32_t elemsInOneRepeat, const int32_t dstBlkStride,
                                       const FieldOf<uint16_t> srcBlkStride,
                                       const FieldOf<uint16_t> dstRepStride,
                                       const FieldOf<uint16_t> srcRepStride) {
    AscendCUtils::SetMask<T, isSetMask>(elemsInOneRepeat);
    vcadd(dst.pointer(), src.pointer(), repeatTime, dstRepStride, srcBlkStride, srcRepStride,
          false);
}
template <typename T, bool isSetMask = true>
__aicore__ inline void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                      const MaskOf<T>& mask, const FieldOf<uint8_t> repeatTime,
                                      const FieldOf<uint16_t> dstRepStride,
                                      const FieldOf<uint16_t> srcBlkStride,
                                      const FieldOf<uint16_t> srcRepStride) {
    set_mask<isSetMask>(mask);
    vcadd(dst.pointer(), src.pointer(), repeatTime, dstRepStride, srcBlkStride, srcRepStride,
          false);
}
#define ASC_WHOLE_REDUCE(Name, intrinsic)                                               \
    template <typename T, bool isSetMask = true>                                        \
    __aicore__ inline void Name(                                                        \
        const LocalTensor<T>& dst, const LocalTensor<T>& src, const MaskOf<T>& mask,    \
        const FieldOf<uint8_t> repeatTime, const FieldOf<uint16_t> dstRepStride,        \
        const FieldOf<uint16_t> srcBlkStride, const FieldOf<uint16_t> srcRepStride,     \
        ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {                           \
        set_mask<isSetMask>(mask);                                                      \
        intrinsic(dst.pointer(), src.pointer(), repeatTime, dstRepStride, srcBlkStride, \
                  srcRepStride, Order_t(order));                                        \
    }
ASC_WHOLE_REDUCE(WholeReduceMax, vcmax)
ASC_WHOLE_REDUCE(WholeReduceMin, vcmin)
#undef ASC_WHOLE_REDUCE

// The same as newer kernels name them.
template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>
__aicore__ inline void ReduceRepeat(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                                    const MaskOf<T>& mask, const FieldOf<uint8_t> repeatTime,
                                    const FieldOf<uint16_t> dstRepStride,
                                    const FieldOf<uint16_t> srcBlkStride,
                                    const FieldOf<uint16_t> srcRepStride,
                                    ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {
    static_assert(reduceType != ReduceType::NONE, "ReduceRepeat needs SUM, MAX or MIN.");
    if constexpr (reduceType == ReduceType::SUM)
        WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride,
                                     srcRepStride);
    else if constexpr (reduceType == ReduceType::MAX)
        WholeReduceMax<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride,
                                     srcRepStride, order);
    else
        WholeReduceMin<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride,
                                     srcRepStride, order);
}
template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>
__aicore__ inline void ReduceDataBlock(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                                       const MaskOf<T>& mask, const FieldOf<uint8_t> repeatTime,
                                       const FieldOf<uint16_t> dstRepStride,
                                       const FieldOf<uint16_t> srcBlkStride,
                                       const FieldOf<uint16_t> srcRepStride) {
    static_assert(reduceType != ReduceType::NONE, "ReduceDataBlock needs SUM, MAX or MIN.");
    if constexpr (reduceType == ReduceType::SUM)
        BlockReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride,
                                     srcRepStride);
    else if constexpr (reduceType == ReduceType::MAX)
        BlockReduceMax<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride,
                                     srcRepStride);
    else
        BlockReduceMin<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride,
                                     srcRepStride);
}
template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>
__aicore__ inline void ReducePairElem(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                                      const MaskOf<T>& mask, const FieldOf<uint8_t> repeatTime,
                                      const FieldOf<uint16_t> dstRepStride,
                                      const FieldOf<uint16_t> srcBlkStride,
                                      const FieldOf<uint16_t> srcRepStride) {
    static_assert(reduceType == ReduceType::SUM, "ReducePairElem sums.");
    PairReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride,
                                srcRepStride);
}

// ---- whole tensors: several rounds, results through the scalar unit
template <typename T> __aicore__ inline void store_element(T* dst, const T& value) {
    dav_scalar_store(dst, sizeof(T));
    *dst = value;
}
// The scalar unit moves one result, then vector and output copies may read it.
template <typename T> __aicore__ inline void store_scalar_result(T* dst, const T& value) {
    store_element(dst, value);
    order_pipes<HardEvent::S_V>();
    order_pipes<HardEvent::S_MTE3>();
}
template <typename T> __aicore__ inline T load_scalar_result(const T* source) {
    dav_scalar_load(source, sizeof(T));
    return *source;
}

template <typename T> __aicore__ inline T accumulator_as(int64_t bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}
// One instruction adds everything up in the accumulator register.
template <typename T, bool isSetMask = true>
__aicore__ inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 const LocalTensor<T>& sharedTmpBuffer, const int32_t count) {
    if (count == 0) return;
    if constexpr (isSetMask) {
        set_mask_count();
        set_vector_mask(0, uint64_t(count));
    }
    vcadd(dst.pointer(), src.pointer(), 1, 1, 1, DEFAULT_REPEAT_STRIDE, true);
    order_pipes<HardEvent::V_S>();
    store_scalar_result(dst.pointer(), accumulator_as<T>(get_acc_val()));
    if constexpr (isSetMask) {
        set_mask_norm();
        set_vector_mask(FULL_MASK, FULL_MASK);
    }
}
// With a mask: every repeat to one element, those to one element each 256 bytes, those to one.
template <typename T>
__aicore__ inline void reduce_repeats(T* dst, T* src, T* work, const uint64_t mask[2],
                                      int32_t repeats, int32_t src_repeat) {
    constexpr int32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    for (int32_t done = 0; done < repeats; done += MAX_REPEAT_TIMES) {
        const int32_t part = repeats - done < MAX_REPEAT_TIMES ? repeats - done : MAX_REPEAT_TIMES;
        set_vector_mask(mask[1], mask[0]);
        vcadd(work + done, src + done * (src_repeat * int32_t(ONE_BLK_SIZE / sizeof(T))), part, 1,
              1, src_repeat, false);
    }
    pipe_barrier(PIPE_V);
    if (repeats > 1) {
        set_mask_count();
        set_vector_mask(0, uint64_t(repeats));
        vcadd(work, work, 1, 1, 1, DEFAULT_REPEAT_STRIDE, false);
        set_mask_norm();
        pipe_barrier(PIPE_V);
    }
    const int32_t results = (repeats + whole - 1) / whole;
    if (results == 1) {
        order_pipes<HardEvent::V_S>();
        store_scalar_result(dst, load_scalar_result(work));
    } else {
        AscendCUtils::SetMask<T>(results);
        vcadd(dst, work, 1, 1, 1, DEFAULT_REPEAT_STRIDE, false);
    }
}
// The mask register's two words for the first `elements` lanes.
struct LaneMask {
    uint64_t words[2];
    __aicore__ explicit LaneMask(int32_t elements) {
        words[0] = elements >= 64 ? FULL_MASK : (uint64_t(1) << elements) - 1;
        words[1] = elements >= 128 ? FULL_MASK
                   : elements > 64 ? (uint64_t(1) << (elements - 64)) - 1
                                   : 0;
    }
};
template <typename T>
__aicore__ inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 const LocalTensor<T>& sharedTmpBuffer, const int32_t mask,
                                 const int32_t repeatTime, const int32_t srcRepStride) {
    const LaneMask lanes(mask);
    reduce_repeats(dst.pointer(), src.pointer(), sharedTmpBuffer.pointer(), lanes.words, repeatTime,
                   srcRepStride);
}
template <typename T>
__aicore__ inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 const LocalTensor<T>& sharedTmpBuffer, const uint64_t mask[],
                                 const int32_t repeatTime, const int32_t srcRepStride) {
    reduce_repeats(dst.pointer(), src.pointer(), sharedTmpBuffer.pointer(), mask, repeatTime,
                   srcRepStride);
}

template <bool maximum, typename T>
__aicore__ inline void find_extreme(T* dst, T* src, int32_t repeats, int32_t src_repeat) {
    if constexpr (maximum) {
        vcmax(dst, src, repeats, 1, 1, src_repeat, VALUE_INDEX);
    } else {
        vcmin(dst, src, repeats, 1, 1, src_repeat, VALUE_INDEX);
    }
}
// Reduces `pairs` of value and index at `from` to one pair each 256 bytes at `to`, looking at the
// values only (every other lane). Answers how many pairs are left.
template <bool maximum, typename T>
__aicore__ inline int32_t reduce_pairs(T* to, T* from, int32_t pairs) {
    constexpr int32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    constexpr uint64_t VALUES_ONLY = 0x5555555555555555ULL;
    const int32_t full = 2 * pairs / whole;
    const int32_t rest = 2 * pairs % whole;
    if (full > 0) {
        set_vector_mask(sizeof(T) == 2 ? VALUES_ONLY : 0, VALUES_ONLY);
        find_extreme<maximum>(to, from, full, DEFAULT_REPEAT_STRIDE);
    }
    if (rest > 0) {
        const LaneMask lanes(rest);
        set_vector_mask(lanes.words[1] & VALUES_ONLY, lanes.words[0] & VALUES_ONLY);
        find_extreme<maximum>(to + 2 * full, from + full * whole, 1, DEFAULT_REPEAT_STRIDE);
    }
    return full + (rest > 0 ? 1 : 0);
}
// The pairs of all repeats are in `work`. The values alone: reduced in place, and once more when
// they fit into one repeat.
template <bool maximum, typename T>
__aicore__ inline void reduce_to_value(T* dst, T* work, int32_t pairs) {
    constexpr int32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    do {
        pipe_barrier(PIPE_V);
        pairs = reduce_pairs<maximum>(work, work, pairs);
    } while (2 * pairs > whole);
    pipe_barrier(PIPE_V);
    reduce_pairs<maximum>(work, work, pairs);
    order_pipes<HardEvent::V_S>();
    store_scalar_result(dst, load_scalar_result(work));
}
// With the index: every level is kept, until one pair is left, and the index found by walking back.
template <bool maximum, typename T>
__aicore__ inline void reduce_to_pair(T* dst, T* work, int32_t pairs, int32_t elements_between) {
    constexpr int32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    constexpr int32_t block = ONE_BLK_SIZE / sizeof(T);
    constexpr int LEVELS = 6;
    using Index = BitsType<T>;
    int32_t starts[LEVELS] = {0};
    int level = 0;
    pipe_barrier(PIPE_V);
    while (pairs > 1) {
        const int32_t next = (starts[level] + 2 * pairs + block - 1) / block * block;
        pairs = reduce_pairs<maximum>(work + next, work + starts[level], pairs);
        starts[++level] = next;
        if (level == 1 || pairs > 1) pipe_barrier(PIPE_V);
    }
    order_pipes<HardEvent::V_S>();
    const T value = load_scalar_result(work + starts[level]);
    int32_t winner = 0;
    for (int at = level; at > 0; --at) {
        const Index lane = load_scalar_result((Index*)(work + starts[at]) + 2 * winner + 1);
        winner = winner * (whole / 2) + int32_t(lane) / 2;
    }
    const Index lane = load_scalar_result((Index*)work + 2 * winner + 1);
    const Index index = Index(winner * elements_between + int32_t(lane));
    store_element((Index*)dst + 1, index);
    store_scalar_result(dst, value);
}
// Bytes of work space that the documentation asks for: a pair each repeat, and with the index a
// level of pairs behind another.
template <typename T> __aicore__ constexpr uint32_t extreme_room(int32_t repeats, bool want_index) {
    constexpr int32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    constexpr int32_t block = ONE_BLK_SIZE / sizeof(T);
    int32_t elements = 0;
    for (int32_t pairs = repeats > 1 ? repeats : 0; pairs > 0;) {
        elements += (2 * pairs + block - 1) / block * block;
        pairs = want_index && pairs > 1 ? (2 * pairs + whole - 1) / whole : 0;
    }
    return uint32_t(elements) * sizeof(T);
}
// Every repeat of `src` gives a value and its index in the repeat.
template <bool maximum, typename T>
__aicore__ inline void reduce_extreme(T* dst, T* src, T* work, const uint64_t mask[2],
                                      int32_t repeats, int32_t src_repeat, bool want_index) {
    constexpr int32_t block = ONE_BLK_SIZE / sizeof(T);
    if (repeats == 1) {
        set_vector_mask(mask[1], mask[0]);
        find_extreme<maximum>(want_index ? dst : work, src, 1, src_repeat);
        if (want_index) return;
        order_pipes<HardEvent::V_S>();
        store_scalar_result(dst, load_scalar_result(work));
        return;
    }
    for (int32_t done = 0; done < repeats; done += MAX_REPEAT_TIMES) {
        const int32_t left = repeats - done;
        set_vector_mask(mask[1], mask[0]);
        find_extreme<maximum>(work + 2 * done, src + done * src_repeat * block,
                              left < MAX_REPEAT_TIMES ? left : MAX_REPEAT_TIMES, src_repeat);
    }
    if (want_index)
        reduce_to_pair<maximum>(dst, work, repeats, src_repeat * block);
    else
        reduce_to_value<maximum>(dst, work, repeats);
}
// What a count leaves over is reduced by itself, then against the value of the whole repeats.
template <bool maximum, typename T>
__aicore__ inline void reduce_extreme_rest(T* dst, T* src, T* work, int32_t before, int32_t rest,
                                           bool want_index) {
    using Index = BitsType<T>;
    order_pipes<HardEvent::V_S>();
    const T body = load_scalar_result(dst);
    const Index body_index = want_index ? load_scalar_result((Index*)dst + 1) : Index(0);
    reduce_extreme<maximum>(dst, src + before, work, LaneMask(rest).words, 1, DEFAULT_REPEAT_STRIDE,
                            want_index);
    order_pipes<HardEvent::V_S>();
    const T tail = load_scalar_result(dst);
    const Index tail_index = want_index ? load_scalar_result((Index*)dst + 1) : Index(0);
    store_element(work, body);
    store_element(work + 1, tail);
    order_pipes<HardEvent::S_V>();
    reduce_extreme<maximum>(dst, work, work, LaneMask(2).words, 1, DEFAULT_REPEAT_STRIDE,
                            want_index);
    if (!want_index) return;
    order_pipes<HardEvent::V_S>();
    const bool in_tail = load_scalar_result((Index*)dst + 1) == 1;
    store_element((Index*)dst + 1, in_tail ? Index(before + tail_index) : body_index);
    order_pipes<HardEvent::S_V>();
    order_pipes<HardEvent::S_MTE3>();
}
#define EXTREME_ROOM                                                                             \
    "The work space of ReduceMax or ReduceMin is too small: it holds a value and an index each " \
    "repeat, and with calIndex those of the rounds behind them, too."
#define ASC_REDUCE_EXTREME(Name, maximum)                                                          \
    template <typename T>                                                                          \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,              \
                                const LocalTensor<T>& sharedTmpBuffer, const uint64_t mask[],      \
                                const int32_t repeatTime, const int32_t srcRepStride,              \
                                bool calIndex = false) {                                           \
        ASC_LIMIT(ASC_ROOM(sharedTmpBuffer, extreme_room<T>(repeatTime, calIndex)), EXTREME_ROOM); \
        reduce_extreme<maximum>(dst.pointer(), src.pointer(), sharedTmpBuffer.pointer(), mask,     \
                                repeatTime, srcRepStride, calIndex);                               \
    }                                                                                              \
    template <typename T>                                                                          \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,              \
                                const LocalTensor<T>& sharedTmpBuffer, const int32_t mask,         \
                                const int32_t repeatTime, const int32_t srcRepStride,              \
                                bool calIndex = false) {                                           \
        const LaneMask lanes(mask);                                                                \
        Name(dst, src, sharedTmpBuffer, lanes.words, repeatTime, srcRepStride, calIndex);          \
    }                                                                                              \
    template <typename T>                                                                          \
    __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,              \
                                const LocalTensor<T>& sharedTmpBuffer, const int32_t count,        \
                                bool calIndex = false) {                                           \
        constexpr int32_t whole = ONE_REPEAT_BYTE_SIZE / sizeof(T);                                \
        if (count == 0) return;                                                                    \
        const int32_t body = count < whole ? count : count / whole * whole;                        \
        ASC_LIMIT(!calIndex || sizeof(T) > 2 || count <= 65536,                                    \
                  "The index of ReduceMax or ReduceMin in half holds up to 65535.");               \
        ASC_LIMIT(ASC_ROOM(sharedTmpBuffer, extreme_room<T>(count / whole, calIndex)),             \
                  EXTREME_ROOM);                                                                   \
        reduce_extreme<maximum>(dst.pointer(), src.pointer(), sharedTmpBuffer.pointer(),           \
                                LaneMask(body < whole ? body : whole).words,                       \
                                body < whole ? 1 : body / whole, DEFAULT_REPEAT_STRIDE, calIndex); \
        if (count > body)                                                                          \
            reduce_extreme_rest<maximum>(dst.pointer(), src.pointer(), sharedTmpBuffer.pointer(),  \
                                         body, count - body, calIndex);                            \
        set_vector_mask(FULL_MASK, FULL_MASK);                                                     \
    }
ASC_REDUCE_EXTREME(ReduceMax, true)
ASC_REDUCE_EXTREME(ReduceMin, false)
#undef ASC_REDUCE_EXTREME
#undef EXTREME_ROOM

// ---- the special registers of reductions
__aicore__ inline int64_t GetAccVal() { return get_acc_val(); }
template <typename T> __aicore__ inline T GetAccVal() { return accumulator_as<T>(get_acc_val()); }
template <typename T> __aicore__ inline void GetReduceMaxMinCount(T& value, T& index) {
    const uint64_t bits = uint64_t(get_max_min_cnt());
    value = accumulator_as<T>(int64_t(bits));
    index = accumulator_as<T>(int64_t(bits >> 32));
}
template <typename T>
__aicore__ inline void GetReduceMaxMinCount(uint32_t& value, uint32_t& index) {
    const uint64_t bits = uint64_t(get_max_min_cnt());
    value = uint32_t(bits & (sizeof(T) == 2 ? 0xffffULL : 0xffffffffULL));
    index = uint32_t(bits >> 32);
}

// The newer names.
template <typename T> __aicore__ inline T GetReduceRepeatSumSpr() { return GetAccVal<T>(); }
template <typename T> __aicore__ inline void GetReduceRepeatMaxMinSpr(T& value, T& index) {
    GetReduceMaxMinCount<T>(value, index);
}

}  // namespace AscendC
