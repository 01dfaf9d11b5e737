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
using Count = Narrow<int32_t>;

// A kernel's own numbers. Its sources are written anew, only by what is put in: `a * b` becomes
// `a * Checked() * b`, `(uint8_t)x` becomes `Cut<uint8_t>() ->* x`, `uint8_t n = x` becomes
// `uint8_t n = Cut<decltype(n)>() = x`, and `n += x` becomes `n += Grown(n) = x`.

template <typename T> constexpr bool IS_NARROW = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <typename T, typename U> __aicore__ constexpr T cut(U given) {
    const T value = static_cast<T>(given);
    if constexpr (IS_NARROW<T> && std::is_integral_v<U> && sizeof(T) < sizeof(U)) {
        // A difference below zero in 32 bits is the same difference again where it is added.
        const bool below = sizeof(T) == sizeof(int32_t) && int64_t(given) == int32_t(given);
        if (!__builtin_is_constant_evaluated() && static_cast<U>(value) != given && !below)
            dav_narrowed("cut", int64_t(given), int64_t(value), uint32_t(sizeof(T) * 8));
    } else if constexpr (std::is_same_v<T, float> && std::is_integral_v<U>) {
        constexpr uint32_t MANTISSA = 24;
        if (!__builtin_is_constant_evaluated()) {
            if (static_cast<U>(value) != given)
                dav_narrowed("rounding", int64_t(given), int64_t(value), MANTISSA);
            dav_fraction(int64_t(given));
        }
    }
    return value;
}
template <typename T, typename = void> struct Cut {
    template <typename U> __aicore__ constexpr U&& operator=(U&& given) const {
        return static_cast<U&&>(given);
    }
};
template <typename T> struct Cut<T, std::enable_if_t<IS_NARROW<T> || std::is_same_v<T, float>>> {
    template <typename U> __aicore__ constexpr T operator=(U given) const { return cut<T>(given); }
};
template <typename T, typename U> __aicore__ constexpr T operator->*(Cut<T>, U given) {
    return cut<T>(given);
}

// What a function of the kernel's own is given: `f(uint8_t n)` becomes `f(Given<uint8_t> n)`.
template <typename T> class Given {
public:
    template <typename U, typename = std::enable_if_t<std::is_convertible_v<U, T>>>
    __aicore__ constexpr Given(U given) : value_(cut<T>(given)) {}
    __aicore__ constexpr operator T() const { return value_; }

private:
    T value_;
};

// Unsigned numbers that are a little below zero: they are meant as differences.
__aicore__ constexpr bool is_difference(uint32_t number) { return number >= 0xff000000u; }
template <typename T> constexpr bool IS_U32 = std::is_same_v<T, uint32_t>;

struct Checked {};
template <typename T> struct Factor {
    T value;
};
template <typename T> struct Summand {
    T value;
};
template <typename T> __aicore__ constexpr Factor<T> operator*(T value, Checked) { return {value}; }
template <typename T> __aicore__ constexpr Summand<T> operator+(T value, Checked) {
    return {value};
}
// Of a number of floating point and a whole one the latter becomes a fraction.
template <typename T, typename U> __aicore__ constexpr void tell_mixed(const T& a, const U& b) {
    if constexpr (std::is_floating_point_v<T> && std::is_integral_v<U>) {
        if (!__builtin_is_constant_evaluated()) dav_fraction(int64_t(b));
    } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<U>) {
        if (!__builtin_is_constant_evaluated()) dav_fraction(int64_t(a));
    }
}
template <typename T, typename U>
__aicore__ constexpr auto operator*(Factor<T> a, U b) -> decltype(a.value * b) {
    if constexpr (IS_U32<decltype(a.value * b)>) {
        const uint32_t x = a.value;
        const uint32_t y = b;
        const bool wraps = uint64_t(x) * y > UINT32_MAX && !is_difference(x) && !is_difference(y);
        if (!__builtin_is_constant_evaluated() && wraps) dav_wrapped("product");
    }
    tell_mixed(a.value, b);
    return a.value * b;
}
template <typename T, typename U>
__aicore__ constexpr auto operator+(Summand<T> a, U b) -> decltype(a.value + b) {
    if constexpr (IS_U32<decltype(a.value + b)>) {
        const uint32_t x = a.value;
        const uint32_t y = b;
        const bool wraps = uint64_t(x) + y > UINT32_MAX && !is_difference(x) && !is_difference(y);
        if (!__builtin_is_constant_evaluated() && wraps) dav_wrapped("sum");
    }
    tell_mixed(a.value, b);
    return a.value + b;
}
template <typename T> struct Dividend {
    T value;
};
template <typename T> __aicore__ constexpr auto operator/(const T& value, Checked) {
    if constexpr (std::is_arithmetic_v<T>)
        return Dividend<T>{value};
    else
        return value;
}
template <typename T, typename U>
__aicore__ constexpr auto operator/(Dividend<T> a, U b) -> decltype(a.value / b) {
    if constexpr (std::is_integral_v<T> && std::is_integral_v<U>) {
        if (!__builtin_is_constant_evaluated() && b != 0)
            dav_quotient(int64_t(a.value / b), a.value % b != 0);
    }
    tell_mixed(a.value, b);
    return a.value / b;
}
template <typename T> struct Minuend {
    T value;
};
template <typename T> __aicore__ constexpr auto operator-(const T& value, Checked) {
    if constexpr (std::is_arithmetic_v<T>)
        return Minuend<T>{value};
    else
        return value;
}
// Unsigned differences below zero may be meant: the machine notes where they are.
template <typename T> __aicore__ constexpr void tell_below(const T& a, const T& b) {
    if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>) {
        if (!__builtin_is_constant_evaluated() && a < b)
            dav_below_zero(uint64_t(b - a), uint64_t(a - b));
    }
}
template <typename T, typename U>
__aicore__ constexpr auto operator-(Minuend<T> a, U b) -> decltype(a.value - b) {
    using Both = decltype(a.value - b);
    if constexpr (std::is_integral_v<Both>) tell_below<Both>(Both(a.value), Both(b));
    tell_mixed(a.value, b);
    return a.value - b;
}
// A loop's `i--` becomes `counted_down(i), i--`.
template <typename T> __aicore__ constexpr void counted_down(const T& counter) {
    if constexpr (IS_NARROW<T>) tell_below<T>(counter, 1);
}
// A loop's `i++` becomes `counted(i), i++`.
template <typename T> __aicore__ constexpr void counted(const T& counter) {
    if constexpr (IS_NARROW<T> && sizeof(T) < sizeof(int32_t)) {
        const int64_t next = int64_t(counter) + 1;
        if (__builtin_is_constant_evaluated() || int64_t(T(next)) == next) return;
        dav_narrowed("cut", next, int64_t(T(next)), uint32_t(sizeof(T) * 8));
        dav_fail("The counter of this loop begins again before the loop ends: it never ends.");
    }
}
// `x *= n` becomes `x *= Scaled(x) = n`.
template <typename T> struct Scaled {
    __aicore__ constexpr explicit Scaled(const T&) {}
    template <typename U> __aicore__ constexpr U operator=(U by) const {
        tell_mixed(T(), by);
        return by;
    }
};
template <typename T> struct Grown {
    __aicore__ constexpr explicit Grown(const T& before) : before_(before) {}
    template <typename U> __aicore__ constexpr U operator=(U more) const {
        if constexpr (IS_U32<T> && std::is_integral_v<U>)
            (void)(Summand<T>{before_} + static_cast<T>(more));
        else if constexpr (IS_NARROW<T> && std::is_integral_v<U> && sizeof(T) < sizeof(int32_t))
            (void)cut<T>(int32_t(before_ + more));
        else if constexpr (std::is_arithmetic_v<T>)
            tell_mixed(T(), more);
        return more;
    }

private:
    const T& before_;
};
// `x -= n` becomes `x -= Shrunk(x) = n`.
template <typename T> struct Shrunk {
    __aicore__ constexpr explicit Shrunk(const T& before) : before_(before) {}
    template <typename U> __aicore__ constexpr U operator=(U less) const {
        if constexpr (IS_NARROW<T> && std::is_integral_v<U>)
            tell_below<T>(before_, static_cast<T>(less));
        else if constexpr (std::is_arithmetic_v<T>)
            tell_mixed(T(), less);
        return less;
    }

private:
    const T& before_;
};
// The scalar of an instruction, in the tensor's type.
template <typename T> class ScalarValue {
public:
    template <typename U>
    __aicore__ constexpr ScalarValue(const U& given) : value_(static_cast<T>(given)) {
        if constexpr (std::is_integral_v<U> && !std::is_integral_v<T>)
            if (!__builtin_is_constant_evaluated()) dav_fraction(int64_t(given));
    }
    __aicore__ constexpr operator const T&() const { return value_; }

private:
    T value_;
};
template <typename T> using ScalarOf = std::enable_if_t<true, ScalarValue<T>>;  // not deduced
#else
template <typename T> using FieldOf = T;
template <typename T> using ScalarOf = const T&;
// As the documentation has it: kernels take pointers to these functions.
using Count = const int32_t&;
#endif

}  // namespace AscendC
