// What the comparisons of watched code saw, and where each led: what -fsanitize-coverage=trace-cmp
// and trace-pc call. Host programs and the machine include it once each.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <tuple>

namespace decisions {

// One comparison of a function that was called from one place.
struct Seen {
    uint64_t less = 0, equal = 0, greater = 0;
    // The operands of the nearest miss on each side.
    double below[2] = {}, above[2] = {}, same = 0;
    // The blocks that ran next: a branch that went both ways has two.
    const void* next[2] = {};
    bool is_case = false;
    // Its outcome is kept as a value, which the next comparison, in the same block, may be about.
    bool is_value = false;
};

// Site, caller, and the number of a case of a switch.
using Key = std::tuple<const void*, const void*, uint64_t>;

constexpr size_t kMost = 20000;

inline std::map<Key, Seen>& all() {
    static std::map<Key, Seen> seen;
    return seen;
}

constexpr int kChain = 4;

// The comparisons of the block that runs; `seen` is the last of them, null when there is none.
struct Pending {
    Seen* seen = nullptr;
    const void* who = nullptr;
    Seen* before[kChain] = {};
    int count = 0;
};
inline Pending pending;

// `frame` is that of the hook: its caller keeps a frame pointer, because it is not optimized.
inline Seen* at(const void* site, void* const* frame, uint64_t number) {
    const auto* outer = static_cast<void* const*>(frame[0]);
    const Key key{site, outer == nullptr ? nullptr : outer[1], number};
    auto& seen = all();
    const auto found = seen.find(key);
    if (found != seen.end()) return &found->second;
    return seen.size() < kMost ? &seen[key] : nullptr;
}

inline void note(Seen& seen, double a, double b) {
    if (a < b) {
        if (seen.less++ == 0 || a - b > seen.below[0] - seen.below[1])
            seen.below[0] = a, seen.below[1] = b;
    } else if (a > b) {
        if (seen.greater++ == 0 || a - b < seen.above[0] - seen.above[1])
            seen.above[0] = a, seen.above[1] = b;
    } else if (a == b) {
        seen.equal++;
        seen.same = a;
    }
}

// `who` is the core that runs: another's block is not what follows.
inline void compare(const void* site, void* const* frame, const void* who, double a, double b) {
    Seen* seen = at(site, frame, 0);
    if (seen == nullptr) return;
    note(*seen, a, b);
    if (pending.seen != nullptr && pending.who == who) {
        pending.seen->is_value = true;
        pending.before[pending.count++ % kChain] = pending.seen;
    } else {
        pending.count = 0;
    }
    pending.seen = seen;
    pending.who = who;
}

inline void choose(const void* site, void* const* frame, uint64_t value, const uint64_t* cases) {
    for (uint64_t i = 0; i < cases[0]; ++i) {
        Seen* seen = at(site, frame, i + 1);
        if (seen == nullptr) return;
        seen->is_case = true;
        note(*seen, double(int64_t(value)), double(int64_t(cases[2 + i])));
    }
}

inline void lead(Seen& seen, const void* block) {
    if (block == seen.next[0] || block == seen.next[1]) return;
    if (seen.next[0] == nullptr)
        seen.next[0] = block;
    else if (seen.next[1] == nullptr)
        seen.next[1] = block;
}

inline void went(const void* block, const void* who) {
    if (pending.who == who) {
        lead(*pending.seen, block);
        for (int i = 0; i < pending.count && i < kChain; ++i) lead(*pending.before[i], block);
    }
    pending.seen = nullptr;
    pending.count = 0;
}

// A JSON list with a row a comparison; `place` makes a number of an address.
template <typename Place> std::string json(Place place) {
    std::string text = "[";
    for (const auto& [key, seen] : all()) {
        const auto offset = [&](const void* address) {
            return address == nullptr ? 0ull : static_cast<unsigned long long>(place(address));
        };
        char row[420];
        std::snprintf(row, sizeof row,
                      "%s[%llu,%llu,%llu,%d,%d,[%llu,%llu],[%llu,%llu,%llu],[%.17g,%.17g],[%.17g,%."
                      "17g],%.17g]",
                      text.size() > 1 ? "," : "", offset(std::get<0>(key)),
                      offset(std::get<1>(key)), static_cast<unsigned long long>(std::get<2>(key)),
                      int(seen.is_case), int(seen.is_value), offset(seen.next[0]),
                      offset(seen.next[1]), static_cast<unsigned long long>(seen.less),
                      static_cast<unsigned long long>(seen.equal),
                      static_cast<unsigned long long>(seen.greater), seen.below[0], seen.below[1],
                      seen.above[0], seen.above[1], seen.same);
        text += row;
    }
    return text + "]";
}

}  // namespace decisions

// The hooks but trace_pc, which its user defines; WHO says which core runs.
#define DECISIONS_HOOK(name, type, wide, who)                                            \
    extern "C" void name(type a, type b) {                                               \
        decisions::compare(__builtin_return_address(0),                                  \
                           static_cast<void* const*>(__builtin_frame_address(0)), (who), \
                           double(wide(a)), double(wide(b)));                            \
    }
#define DECISIONS_HOOKS(who)                                                            \
    DECISIONS_HOOK(__sanitizer_cov_trace_cmp1, uint8_t, uint8_t, who)                   \
    DECISIONS_HOOK(__sanitizer_cov_trace_cmp2, uint16_t, uint16_t, who)                 \
    DECISIONS_HOOK(__sanitizer_cov_trace_cmp4, uint32_t, int32_t, who)                  \
    DECISIONS_HOOK(__sanitizer_cov_trace_cmp8, uint64_t, int64_t, who)                  \
    DECISIONS_HOOK(__sanitizer_cov_trace_const_cmp1, uint8_t, uint8_t, who)             \
    DECISIONS_HOOK(__sanitizer_cov_trace_const_cmp2, uint16_t, uint16_t, who)           \
    DECISIONS_HOOK(__sanitizer_cov_trace_const_cmp4, uint32_t, int32_t, who)            \
    DECISIONS_HOOK(__sanitizer_cov_trace_const_cmp8, uint64_t, int64_t, who)            \
    DECISIONS_HOOK(__sanitizer_cov_trace_cmpf, float, float, who)                       \
    DECISIONS_HOOK(__sanitizer_cov_trace_cmpd, double, double, who)                     \
    extern "C" void __sanitizer_cov_trace_switch(uint64_t value, void* cases) {         \
        decisions::choose(__builtin_return_address(0),                                  \
                          static_cast<void* const*>(__builtin_frame_address(0)), value, \
                          static_cast<const uint64_t*>(cases));                         \
    }
