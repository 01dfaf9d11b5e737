// What a kernel says when it stops itself: the condition, and its author's words with their values.
#pragma once

#include "queue.h"

namespace AscendC {

template <typename T> __aicore__ inline DavTold told_value(T value) {
    DavTold told{};
    if constexpr (std::is_convertible_v<T, const char*>) {
        told.kind = DavTold::TEXT;
        told.text = value;
    } else if constexpr (std::is_pointer_v<T>) {
        told.kind = DavTold::UNSIGNED;
        told.whole = int64_t(reinterpret_cast<uintptr_t>(value));
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
        told.kind = std::is_unsigned_v<T> ? DavTold::UNSIGNED : DavTold::SIGNED;
        told.whole = static_cast<int64_t>(value);
    } else {  // float, half, bfloat16_t
        told.kind = DavTold::REAL;
        told.real = static_cast<double>(static_cast<float>(value));
    }
    return told;
}

// A condition that a kernel wants to hold, as it is written there.
struct Assertion {
    const char* condition;

    // Ends the launch; `format` is printf-like.
    template <typename... T>
    [[noreturn]] __aicore__ inline void fails(const char* format = "", T... values) const {
        const DavTold told[] = {told_value(values)..., DavTold{}};
        dav_assertion(condition, format, told, sizeof...(values));
    }
};

}  // namespace AscendC

// Stops the core where the condition does not hold.
#define ascendc_assert(condition, ...) \
    (static_cast<bool>(condition) ? void() : AscendC::Assertion{#condition}.fails(__VA_ARGS__))
