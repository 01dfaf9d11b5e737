// Numbers of fields that are narrower than what kernels compute with. A kernel that is built to be
// checked tells the machine of each number that does not fit; others get plain integers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "qualifiers.h"

namespace AscendC {

#ifdef DAV_FIELDS
template <typename T> class Narrow {
public:
    __aicore__ constexpr Narrow() : value_() {}
    template <typename U, typename = std::enable_if_t<std::is_arithmetic_v<U> || std::is_enum_v<U>>>
    __aicore__ constexpr Narrow(U given) : value_(static_cast<T>(given)) {
        if (static_cast<U>(value_) != given && !is_negative(int64_t(given)))
            given_ = int64_t(given);
    }
    template <typename U>
    __aicore__ constexpr Narrow(Narrow<U> given) : Narrow(static_cast<U>(given)) {}
    // A field that nobody reads does no harm.
    __aicore__ constexpr operator T() const {
        if (!__builtin_is_constant_evaluated() && given_ != NOTHING)
            dav_narrowed("narrowed", given_, int64_t(value_), uint32_t(sizeof(T) * 8));
        return value_;
    }
    template <typename U> __aicore__ constexpr Narrow& operator+=(U more) {
        return *this = value_ + more;
    }
    template <typename U> __aicore__ constexpr Narrow& operator-=(U less) {
        return *this = value_ - less;
    }

private:
    // A difference below zero in a field of 32 bits: of one burst alone, nobody reads its gap.
    static __aicore__ constexpr bool is_negative(int64_t given) {
        return sizeof(T) == sizeof(uint32_t) && given < 0 && given == int64_t(int32_t(given));
    }
    static constexpr int64_t NOTHING = INT64_MIN;
    T value_;
    int64_t given_ = NOTHING;  // what did not fit
};
template <typename T>
using FieldOf = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool> &&
                                       sizeof(T) <= sizeof(uint32_t),
                                   Narrow<T>, T>;

// What casts of a kernel's own sources become, and `(uint8_t)x` as `Cut<uint8_t>() ->* x`.
template <typename T, typename U> __aicore__ constexpr T cut(U given) {
    const T value = static_cast<T>(given);
    if constexpr (std::is_integral_v<U> && sizeof(T) < sizeof(U))
        if (!__builtin_is_constant_evaluated() && static_cast<U>(value) != given)
            dav_narrowed("cut", int64_t(given), int64_t(value), uint32_t(sizeof(T) * 8));
    return value;
}
template <typename T> struct Cut {};
template <typename T, typename U> __aicore__ constexpr T operator->*(Cut<T>, U given) {
    return cut<T>(given);
}
#else
template <typename T> using FieldOf = T;
#endif

}  // namespace AscendC
