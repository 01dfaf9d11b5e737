// The hooks of host sources that are built to be watched.
#include "detail/decisions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/runtime.h"

extern "C" const char __executable_start;

namespace {
// What is compared: where, called from where (and for which case of a switch), from the program's
// start on, which is the same in each process.
using Place = std::pair<uint64_t, uint64_t>;

// The last that a comparison of one request saw; `turn` orders them.
struct Step {
    size_t turn = 0;
    std::string a, b;
};
constexpr size_t kMostSteps = 1500;
// Operators' globals compare before ours would be there.
std::map<Place, Step>& all_steps() {
    static std::map<Place, Step> steps;
    return steps;
}
size_t g_turn = 0;

uint64_t offset(const void* address) {
    return static_cast<uint64_t>(static_cast<const char*>(address) - &__executable_start);
}

// JSON of an operand, whole numbers with all their digits.
template <typename T> std::string text_of(T value) {
    if constexpr (std::is_integral_v<T>) return std::to_string(value);
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", std::isfinite(value) ? double(value) : 0.0);
    return text;
}

void note_step(const void* site, void* const* frame, uint64_t number, const std::string& a,
               const std::string& b) {
    const auto* outer = static_cast<void* const*>(frame[0]);
    const void* caller = outer == nullptr ? &__executable_start : outer[1];
    const Place at{offset(site), offset(caller) * 4096 + number};
    auto& steps = all_steps();
    if (steps.size() >= kMostSteps && steps.find(at) == steps.end()) return;
    steps[at] = {++g_turn, a, b};
}

// Of what is inline in the library the linker may have kept the operator's copy, which calls hooks.
bool g_inside = false;

template <typename T> void step(const void* site, void* const* frame, uint64_t number, T a, T b) {
    if (g_inside) return;
    g_inside = true;
    note_step(site, frame, number, text_of(a), text_of(b));
    g_inside = false;
}
}  // namespace

#undef DECISIONS_HOOK
#define DECISIONS_HOOK(name, type, wide, who)                                     \
    extern "C" void name(type a, type b) {                                        \
        const void* site = __builtin_return_address(0);                           \
        auto* frame = static_cast<void* const*>(__builtin_frame_address(0));      \
        step(site, frame, 0, wide(a), wide(b));                                   \
        decisions::compare(site, frame, (who), double(wide(a)), double(wide(b))); \
    }
DECISIONS_HOOK(__sanitizer_cov_trace_cmp1, uint8_t, uint8_t, nullptr)
DECISIONS_HOOK(__sanitizer_cov_trace_cmp2, uint16_t, uint16_t, nullptr)
DECISIONS_HOOK(__sanitizer_cov_trace_cmp4, uint32_t, int32_t, nullptr)
DECISIONS_HOOK(__sanitizer_cov_trace_cmp8, uint64_t, int64_t, nullptr)
DECISIONS_HOOK(__sanitizer_cov_trace_const_cmp1, uint8_t, uint8_t, nullptr)
DECISIONS_HOOK(__sanitizer_cov_trace_const_cmp2, uint16_t, uint16_t, nullptr)
DECISIONS_HOOK(__sanitizer_cov_trace_const_cmp4, uint32_t, int32_t, nullptr)
DECISIONS_HOOK(__sanitizer_cov_trace_const_cmp8, uint64_t, int64_t, nullptr)
DECISIONS_HOOK(__sanitizer_cov_trace_cmpf, float, float, nullptr)
DECISIONS_HOOK(__sanitizer_cov_trace_cmpd, double, double, nullptr)

extern "C" void __sanitizer_cov_trace_switch(uint64_t value, void* cases) {
    const void* site = __builtin_return_address(0);
    auto* frame = static_cast<void* const*>(__builtin_frame_address(0));
    const auto* table = static_cast<const uint64_t*>(cases);
    for (uint64_t i = 0; i < table[0]; ++i)
        step(site, frame, i + 1, int64_t(value), int64_t(table[2 + i]));
    decisions::choose(site, frame, value, table);
}

extern "C" void __sanitizer_cov_trace_pc() {
    if (decisions::pending.seen != nullptr) decisions::went(__builtin_return_address(0), nullptr);
}

namespace host {
void forget_steps() {
    all_steps().clear();
    g_turn = 0;
}

// The member of an answer with [where, from where, a, b] of each, the one that was met last at the
// end; nothing where nothing is watched.
std::string steps_seen() {
    std::vector<std::pair<Place, Step>> steps(all_steps().begin(), all_steps().end());
    std::sort(steps.begin(), steps.end(), [](const auto& one, const auto& other) {
        return one.second.turn < other.second.turn;
    });
    if (steps.empty()) return "";
    std::string text = ",\"compared\":[";
    for (const auto& [at, seen] : steps) {
        text += (text.back() == '[' ? "[" : ",[") + std::to_string(at.first) + "," +
                std::to_string(at.second) + "," + seen.a + "," + seen.b + "]";
    }
    return text + "]";
}

std::string decisions_seen() {
    return decisions::json([](const void* address) {
        return static_cast<const char*>(address) - &__executable_start;
    });
}
}  // namespace host

// The hooks of -fsanitize=float-cast-overflow,shift: what the language leaves open is refused.
extern "C" void __ubsan_handle_float_cast_overflow(void*, void*) { __builtin_trap(); }
extern "C" void __ubsan_handle_shift_out_of_bounds(void*, void*, void*) { __builtin_trap(); }
