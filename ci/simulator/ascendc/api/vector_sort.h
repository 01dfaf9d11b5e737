// Sorting: 32 elements an instruction, and merges of up to four sorted lists. A sorted element is
// 8 bytes: the value (a half takes the first 2 of 4 bytes) and its 32-bit index.
#pragma once

#include "data_copy.h"
#include "vector_gather.h"

namespace AscendC {

template <typename T> struct MrgSortSrcList {
    __aicore__ MrgSortSrcList() {}
    __aicore__ MrgSortSrcList(const LocalTensor<T>& a, const LocalTensor<T>& b,
                              const LocalTensor<T>& c, const LocalTensor<T>& d)
        : src1(a), src2(b), src3(c), src4(d) {}
    LocalTensor<T> src1;
    LocalTensor<T> src2;
    LocalTensor<T> src3;
    LocalTensor<T> src4;
};

constexpr uint32_t SORT_ELEMENT_BYTES = 8;
constexpr uint32_t SORT_GROUP = 32;

template <typename T>
__aicore__ inline void Sort32(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                              const LocalTensor<uint32_t>& src1,
                              const FieldOf<uint8_t> repeatTime) {
    vbitsort(dst.pointer(), src0.pointer(), src1.pointer(), repeatTime);
}
template <typename T>
__aicore__ inline void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src,
                               const MrgSort4Info& params) {
    T* lists[4] = {src.src1.pointer(), src.src2.pointer(), src.src3.pointer(), src.src4.pointer()};
    uint64_t lengths = 0;
    for (int list = 0; list < 4; ++list) {
        ASC_LIMIT(params.elementLengths[list] <= 4095,
                  "MrgSort takes lists of up to 4095 elements.");
        lengths |= uint64_t(params.elementLengths[list]) << (16 * list);
    }
    vmrgsort4(dst.pointer(), lists, lengths,
              uint64_t(params.repeatTimes) | (uint64_t(params.validBit & 0xf) << 8) |
                  (uint64_t(params.ifExhaustedSuspension) << 12));
}
__aicore__ inline void GetMrgSortResult(uint16_t& list1, uint16_t& list2, uint16_t& list3,
                                        uint16_t& list4) {
    const uint64_t counts = uint64_t(get_vms4_sr());
    list1 = uint16_t(counts);
    list2 = uint16_t(counts >> 16);
    list3 = uint16_t(counts >> 32);
    list4 = uint16_t(counts >> 48);
}
template <typename T, bool isExhaustedSuspension = false>
__aicore__ inline void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& sortList,
                               const uint16_t elementCountList[4], uint32_t sortedNum[4],
                               uint16_t validBit, const int32_t repeatTime) {
    MrgSort(dst, sortList,
            MrgSort4Info(elementCountList, isExhaustedSuspension, validBit, repeatTime));
    if constexpr (isExhaustedSuspension) {
        uint16_t counts[4];
        GetMrgSortResult(counts[0], counts[1], counts[2], counts[3]);
        for (int list = 0; list < 4; ++list) sortedNum[list] = counts[list];
    }
}

// Bytes and elements of T that `count` sorted elements take.
template <typename T> __aicore__ inline uint32_t GetSortOffset(const uint32_t count) {
    return count * (SORT_ELEMENT_BYTES / sizeof(T));
}
template <typename T> __aicore__ inline uint32_t GetSortLen(const uint32_t count) {
    return count * (SORT_ELEMENT_BYTES / sizeof(T));
}
// On this core the values need no packing before sorting.
template <typename T>
__aicore__ inline void Concat(LocalTensor<T>& concat, const LocalTensor<T>& src,
                              const LocalTensor<T>&, const int32_t) {
    concat = src;
}
// Values and indices of sorted elements, apart.
template <typename T>
__aicore__ inline void Extract(const LocalTensor<T>& dstValue,
                               const LocalTensor<uint32_t>& dstIndex, const LocalTensor<T>& sorted,
                               const int32_t repeatTime) {
    uint64_t count = 0;
    const uint32_t elements = uint32_t(repeatTime) * SORT_GROUP;
    constexpr uint32_t lanes = SORT_ELEMENT_BYTES / sizeof(T);
    const GatherMaskParams words(1, 1, DEFAULT_REPEAT_STRIDE, 0);
    GatherMask(dstIndex, sorted.template ReinterpretCast<uint32_t>(), uint8_t(2), true,
               elements * 2, words, count);
    pipe_barrier(PIPE_V);
    // Of a half's four lanes the first is the value, of a float's two.
    GatherMask(dstValue, sorted, uint8_t(sizeof(T) == 2 ? 3 : 1), true, elements * lanes, words,
               count);
    pipe_barrier(PIPE_V);
    ResetMask();
}
template <typename T, bool isFullSort>
__aicore__ inline void Sort(const LocalTensor<T>& dst, const LocalTensor<T>& concat,
                            const LocalTensor<uint32_t>& index, LocalTensor<T>& tmp,
                            const int32_t repeatTime) {
    Sort32(dst, concat, index, repeatTime);
    if constexpr (isFullSort) {
        pipe_barrier(PIPE_V);
        constexpr uint32_t lanes = SORT_ELEMENT_BYTES / sizeof(T);
        const uint32_t total = uint32_t(repeatTime) * SORT_GROUP;
        // Lists of `length` merge by four, from `tmp` to `dst`, until one is left.
        for (uint32_t length = SORT_GROUP; length < total; length *= 4) {
            DataCopy(tmp, dst, total * lanes);
            pipe_barrier(PIPE_V);
            for (uint32_t start = 0; start < total; start += 4 * length) {
                uint16_t counts[4] = {0, 0, 0, 0};
                uint32_t begins[4] = {start, start, start, start};
                int lists = 0;
                for (uint32_t at = start; at < total && lists < 4; at += length, ++lists) {
                    begins[lists] = at;
                    counts[lists] = uint16_t(total - at < length ? total - at : length);
                }
                if (lists < 2) continue;
                const MrgSortSrcList<T> sources(tmp[begins[0] * lanes], tmp[begins[1] * lanes],
                                                tmp[begins[2] * lanes], tmp[begins[3] * lanes]);
                MrgSort(dst[start * lanes], sources,
                        MrgSort4Info(counts, false, uint16_t((1U << lists) - 1), 1));
            }
            pipe_barrier(PIPE_V);
        }
    }
}

}  // namespace AscendC
