// Reductions over an iteration, a 32-byte block, or a pair of elements.
//
// What the documentation says
//   * Sums are a binary tree over neighbouring elements; each node is rounded to the element type.
//   * Extremes give the lowest index among equals; the index is kept as an integer's bits.
//   * A destination element none of whose sources is active keeps its value.
// Assumptions
//   * Inactive lanes count as 0 in a sum.
//   * A NaN wins every extreme, and among several the first.
//   * The extreme register holds the winner over all iterations, its index counted over all lanes.
//   * vcadd in accumulating mode leaves the destination alone: the total is in ACC_VAL, iterations
//     added in order and rounded to the element type.
#include "vector_lanes.h"
#include "vector_round.h"

using namespace dav;

namespace {

template <class T> T rounded_sum(T a, T b) {
    half result = static_cast<half>(float(a) + float(b));
    if constexpr (std::is_same_v<T, half>) {
        saturate_if_asked(&result, 1);
        return result;
    } else {
        return a + b;
    }
}

// Sums `count` (a power of two) elements pairwise; destroys them.
template <class T> T tree_sum(T* values, unsigned count) {
    for (; count > 1; count /= 2)
        for (unsigned i = 0; i < count / 2; i++)
            values[i] = rounded_sum(values[2 * i], values[2 * i + 1]);
    return values[0];
}

// Loads an iteration with inactive lanes set to `filler`.
template <class T>
void load(T* lanes, unsigned width, const uint8_t* base, Step step, uint32_t iteration,
          const Active& active, T filler) {
    alignas(32) uint8_t room[REPEAT_BYTES];
    const T* in =
        static_cast<const T*>(view(base, step, iteration, active.reach * sizeof(T), room));
    for (unsigned i = 0; i < width; i++) lanes[i] = active[i] ? in[i] : filler;
}

template <class T>
VectorOperand destination(const void* dst, uint32_t span, uint32_t pitch, uint8_t alignment) {
    VectorOperand operand{};
    operand.address = dst;
    operand.write = true;
    operand.span = span;
    operand.repeat_bytes = pitch;
    operand.alignment = alignment;
    return operand;
}

template <class T> constexpr unsigned WIDTH = REPEAT_BYTES / sizeof(T);
template <class T> constexpr unsigned PER_BLOCK = BLOCK_BYTES / sizeof(T);

template <class T>
void whole_sum(T* dst, T* src, uint32_t repeat, uint32_t dst_repeat, Step step, bool accumulate,
               void* site) {
    const Lanes lanes(WIDTH<T>, repeat);
    const uint32_t pitch = dst_repeat * sizeof(T);
    const VectorOperand operands[] = {lanes.operand(src, step, BITS<T>, false),
                                      destination<T>(dst, sizeof(T), pitch, sizeof(T))};
    issue_vector("vcadd", dtype_name<T>(), lanes.empty() ? 0 : lanes.repeats(), operands,
                 accumulate ? 1 : 2, site);
    if (lanes.empty()) return;
    const uint8_t* const in = ub_address(src);
    uint8_t* const out = ub_address(dst);
    T total = 0;
    for (uint32_t r = 0; r < lanes.repeats(); r++) {
        T values[WIDTH<T>];
        load(values, WIDTH<T>, in, step, r, lanes.at(r), T(0));
        const T sum = tree_sum(values, WIDTH<T>);
        total = r == 0 ? sum : rounded_sum(total, sum);
        if (!accumulate) std::memcpy(out + size_t(r) * pitch, &sum, sizeof(T));
    }
    if (accumulate) {
        vector_state().accumulated = 0;
        std::memcpy(&vector_state().accumulated, &total, sizeof(T));
    }
}

// Whether `value` replaces `best` as the extreme.
template <bool MAXIMUM, class T> bool beats(T value, T best) {
    const float v = static_cast<float>(value), b = static_cast<float>(best);
    if (b != b) return false;
    return v != v || (MAXIMUM ? v > b : v < b);
}

template <bool MAXIMUM, class T>
void whole_extreme(T* dst, T* src, uint32_t repeat, uint32_t dst_repeat, Step step, Order_t order,
                   void* site) {
    using Index = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
    const Lanes lanes(WIDTH<T>, repeat);
    const uint32_t size = order == ONLY_VALUE   ? sizeof(T)
                          : order == ONLY_INDEX ? sizeof(uint32_t)
                                                : 2 * sizeof(T);
    const uint32_t pitch = dst_repeat * size;
    const VectorOperand operands[] = {lanes.operand(src, step, BITS<T>, false),
                                      destination<T>(dst, size, pitch, static_cast<uint8_t>(size))};
    issue_vector(MAXIMUM ? "vcmax" : "vcmin", dtype_name<T>(), lanes.empty() ? 0 : lanes.repeats(),
                 operands, 2, site);
    if (lanes.empty()) return;
    const uint8_t* const in = ub_address(src);
    uint8_t* const out = ub_address(dst);
    T overall = 0;
    uint32_t overall_index = 0;
    for (uint32_t r = 0; r < lanes.repeats(); r++) {
        const Active& active = lanes.at(r);
        T values[WIDTH<T>];
        load(values, WIDTH<T>, in, step, r, active, T(0));
        unsigned winner = active.first;
        for (unsigned i = winner + 1; i < active.reach; i++)
            if (active[i] && beats<MAXIMUM>(values[i], values[winner])) winner = i;
        const T value = values[winner];
        if (r == 0 || beats<MAXIMUM>(value, overall)) {
            overall = value;
            overall_index = r * WIDTH<T> + winner;
        }
        uint8_t* const to = out + size_t(r) * pitch;
        const Index index = static_cast<Index>(winner);
        const uint32_t wide_index = winner;
        switch (order) {
            case VALUE_INDEX:
                std::memcpy(to, &value, sizeof(T));
                std::memcpy(to + sizeof(T), &index, sizeof(T));
                break;
            case INDEX_VALUE:
                std::memcpy(to, &index, sizeof(T));
                std::memcpy(to + sizeof(T), &value, sizeof(T));
                break;
            case ONLY_VALUE: std::memcpy(to, &value, sizeof(T)); break;
            case ONLY_INDEX: std::memcpy(to, &wide_index, sizeof(wide_index)); break;
        }
    }
    uint64_t& state = vector_state().max_min_count;
    state = 0;
    std::memcpy(&state, &overall, sizeof(T));
    state |= uint64_t(overall_index) << 32;
}

// Shared by the block and the pair reductions: groups of GROUP neighbouring lanes become one.
template <unsigned GROUP, class T, class F>
void grouped(const char* mnemonic, T* dst, T* src, uint32_t repeat, uint32_t dst_repeat, Step step,
             void* site, F reduce) {
    constexpr unsigned RESULTS = WIDTH<T> / GROUP;
    const Lanes lanes(WIDTH<T>, repeat);
    const uint32_t pitch = dst_repeat * RESULTS * sizeof(T);
    const Active& last = lanes.at(lanes.repeats() ? lanes.repeats() - 1 : 0);
    const unsigned reach = lanes.repeats() > 1 ? lanes.at(0).reach : last.reach;
    const uint32_t span = (reach + GROUP - 1) / GROUP * sizeof(T);
    const VectorOperand operands[] = {
        lanes.operand(src, step, BITS<T>, false),
        destination<T>(dst, span, pitch,
                       GROUP == 2 ? 32 : static_cast<uint8_t>(RESULTS * sizeof(T)))};
    issue_vector(mnemonic, dtype_name<T>(), lanes.empty() ? 0 : lanes.repeats(), operands, 2, site);
    if (lanes.empty()) return;
    const uint8_t* const in = ub_address(src);
    uint8_t* const out = ub_address(dst);
    for (uint32_t r = 0; r < lanes.repeats(); r++) {
        const Active& active = lanes.at(r);
        T values[WIDTH<T>];
        load(values, WIDTH<T>, in, step, r, active, T(0));
        for (unsigned g = 0; g < RESULTS; g++) {
            bool any = false;
            for (unsigned i = 0; i < GROUP; i++) any |= active[g * GROUP + i];
            if (!any) continue;
            const T result = reduce(values + g * GROUP, active, g * GROUP);
            std::memcpy(out + size_t(r) * pitch + g * sizeof(T), &result, sizeof(T));
        }
    }
}

template <bool MAXIMUM, unsigned GROUP, class T>
T group_extreme(const T* values, const Active& active, unsigned first) {
    int winner = -1;
    for (unsigned i = 0; i < GROUP; i++)
        if (active[first + i] && (winner < 0 || beats<MAXIMUM>(values[i], values[winner])))
            winner = static_cast<int>(i);
    return values[winner];
}

}  // namespace

#define WHOLE(T)                                                                                \
    void vcadd(T* dst, T* src, uint8_t repeat, uint16_t dst_repeat, uint16_t src_block,         \
               uint16_t src_repeat, bool accumulate) {                                          \
        whole_sum(dst, src, repeat, dst_repeat, {src_block, src_repeat}, accumulate, DAV_SITE); \
    }                                                                                           \
    void vcmax(T* dst, T* src, uint8_t repeat, uint16_t dst_repeat, uint16_t src_block,         \
               uint16_t src_repeat, Order_t order) {                                            \
        whole_extreme<true>(dst, src, repeat, dst_repeat, {src_block, src_repeat}, order,       \
                            DAV_SITE);                                                          \
    }                                                                                           \
    void vcmin(T* dst, T* src, uint8_t repeat, uint16_t dst_repeat, uint16_t src_block,         \
               uint16_t src_repeat, Order_t order) {                                            \
        whole_extreme<false>(dst, src, repeat, dst_repeat, {src_block, src_repeat}, order,      \
                             DAV_SITE);                                                         \
    }
WHOLE(half)
WHOLE(float)

#define GROUPED(name, GROUP, T, EXPRESSION)                                                    \
    void name(T* dst, T* src, uint8_t repeat, uint16_t dst_repeat, uint16_t src_block,         \
              uint16_t src_repeat) {                                                           \
        grouped<GROUP>(#name, dst, src, repeat, dst_repeat, {src_block, src_repeat}, DAV_SITE, \
                       [](T* values, [[maybe_unused]] const Active& active,                    \
                          [[maybe_unused]] unsigned first) { return EXPRESSION; });            \
    }
#define GROUPED_ALL(T)                                                                            \
    GROUPED(vcgadd, PER_BLOCK<T>, T, tree_sum(values, PER_BLOCK<T>))                              \
    GROUPED(vcgmax, PER_BLOCK<T>, T, (group_extreme<true, PER_BLOCK<T>>(values, active, first)))  \
    GROUPED(vcgmin, PER_BLOCK<T>, T, (group_extreme<false, PER_BLOCK<T>>(values, active, first))) \
    GROUPED(vcpadd, 2, T, tree_sum(values, 2))
GROUPED_ALL(half)
GROUPED_ALL(float)
