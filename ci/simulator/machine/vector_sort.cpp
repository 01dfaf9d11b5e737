// Sorting: 32 elements at a time into (score, index) pairs, and merging of sorted lists.
//
// A pair takes 8 bytes: the score in the low bytes, the index in the upper four; between a half
// score and its index two bytes are unused (written as 0). Order is descending, equal scores keep
// their order (or that of the lists). Assumption: NaN sorts before everything.
#include <algorithm>
#include <numeric>
#include <vector>

#include "vector_lanes.h"

using namespace dav;

namespace {

constexpr unsigned PAIR_BYTES = 8;
constexpr unsigned SORTED = 32;

template <class T> bool precedes(T a, T b) {
    const float x = static_cast<float>(a), y = static_cast<float>(b);
    return x > y || (x != x && y == y);
}

VectorOperand span_of(const void* address, uint32_t span, uint32_t pitch, bool write,
                      uint8_t alignment = BLOCK_BYTES) {
    VectorOperand operand{};
    operand.address = address;
    operand.span = span;
    operand.repeat_bytes = pitch;
    operand.write = write;
    operand.alignment = alignment;
    return operand;
}

template <class T>
void sort_groups(T* dst, T* value, uint32_t* index, uint32_t repeat, void* site) {
    const VectorOperand operands[] = {
        span_of(dst, SORTED * PAIR_BYTES, SORTED * PAIR_BYTES, true),
        span_of(value, SORTED * sizeof(T), SORTED * sizeof(T), false),
        span_of(index, SORTED * sizeof(uint32_t), SORTED * sizeof(uint32_t), false)};
    issue_vector("vbitsort", dtype_name<T>(), repeat, operands, repeat ? 3 : 0, site);
    if (repeat == 0) return;
    const uint8_t *const scores = ub_address(value), *const indices = ub_address(index);
    uint8_t* const out = ub_address(dst);
    for (uint32_t r = 0; r < repeat; r++) {
        T score[SORTED];
        uint32_t tag[SORTED];
        std::memcpy(score, scores + size_t(r) * sizeof(score), sizeof(score));
        std::memcpy(tag, indices + size_t(r) * sizeof(tag), sizeof(tag));
        unsigned order[SORTED];
        std::iota(order, order + SORTED, 0u);
        std::stable_sort(order, order + SORTED,
                         [&](unsigned a, unsigned b) { return precedes(score[a], score[b]); });
        uint8_t pairs[SORTED][PAIR_BYTES] = {};
        for (unsigned i = 0; i < SORTED; i++) {
            std::memcpy(pairs[i], &score[order[i]], sizeof(T));
            std::memcpy(pairs[i] + 4, &tag[order[i]], sizeof(uint32_t));
        }
        std::memcpy(out + size_t(r) * sizeof(pairs), pairs, sizeof(pairs));
    }
}

template <class T>
void merge_lists(T* dst, T* const* src, uint64_t lengths, uint64_t config, void* site) {
    constexpr unsigned LISTS = 4;
    const uint32_t repeat = config & 0xff;
    const bool stop_when_one_ends = (config >> 12 & 1) != 0;
    uint32_t length[LISTS], total = 0;
    std::vector<VectorOperand> operands;
    for (unsigned l = 0; l < LISTS; l++) {
        length[l] = (config >> (8 + l) & 1) != 0 ? lengths >> (16 * l) & 0xffff : 0;
        total += length[l];
    }
    for (unsigned l = 0; l < LISTS; l++)
        if (length[l] != 0)
            operands.push_back(
                span_of(src[l], length[l] * PAIR_BYTES, total * PAIR_BYTES, false, PAIR_BYTES));
    // How much is written is data, so the lists are read before the instruction is issued; issuing
    // it with the lists alone reports those that do not lie in UB.
    for (const VectorOperand& list : operands)
        if (repeat != 0 &&
            !inside_ub(list.address, size_t(repeat - 1) * list.repeat_bytes + list.span))
            issue_vector("vmrgsort4", dtype_name<T>(), repeat, &list, 1, site);
    std::vector<uint8_t> merged;
    uint32_t taken[LISTS] = {};
    for (uint32_t r = 0; r < repeat && total != 0; r++) {
        std::fill(taken, taken + LISTS, 0u);
        const auto pair = [&](unsigned l) {
            return ub_address(src[l]) + (size_t(r) * total + taken[l]) * PAIR_BYTES;
        };
        const auto score = [&](unsigned l) {
            T value;
            std::memcpy(&value, pair(l), sizeof(value));
            return value;
        };
        for (uint32_t n = 0; n < total; n++) {
            int best = -1;
            bool one_ended = false;
            for (unsigned l = 0; l < LISTS; l++) {
                if (taken[l] == length[l]) {
                    one_ended |= length[l] != 0;
                    continue;
                }
                if (best < 0 || precedes(score(l), score(static_cast<unsigned>(best))))
                    best = static_cast<int>(l);
            }
            if (one_ended && stop_when_one_ends) break;
            const uint8_t* const from = pair(static_cast<unsigned>(best));
            merged.insert(merged.end(), from, from + PAIR_BYTES);
            taken[best]++;
        }
    }
    const auto bytes = static_cast<uint32_t>(merged.size());
    // Time follows the merged pairs, 32 to a repeat; the whole ranges are touched in each.
    for (VectorOperand& list : operands) {
        list.span += (repeat - 1) * list.repeat_bytes;
        list.repeat_bytes = 0;
    }
    if (bytes != 0) operands.push_back(span_of(dst, bytes, 0, true));
    issue_vector("vmrgsort4", dtype_name<T>(), (bytes / PAIR_BYTES + SORTED - 1) / SORTED,
                 operands.data(), bytes ? static_cast<int>(operands.size()) : 0, site);
    if (bytes != 0) std::memcpy(ub_address(dst), merged.data(), bytes);
    uint64_t& counts = vector_state().merged_counts;
    counts = 0;
    for (unsigned l = 0; l < LISTS; l++) counts |= uint64_t(taken[l] & 0xffff) << (16 * l);
}

}  // namespace

void vbitsort(half* dst, half* value, uint32_t* index, uint8_t repeat) {
    sort_groups(dst, value, index, repeat, DAV_SITE);
}
void vbitsort(float* dst, float* value, uint32_t* index, uint8_t repeat) {
    sort_groups(dst, value, index, repeat, DAV_SITE);
}
void vmrgsort4(half* dst, half* src[4], uint64_t lengths, uint64_t config) {
    merge_lists(dst, src, lengths, config, DAV_SITE);
}
void vmrgsort4(float* dst, float* src[4], uint64_t lengths, uint64_t config) {
    merge_lists(dst, src, lengths, config, DAV_SITE);
}
