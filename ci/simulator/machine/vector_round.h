// The rounding modes of the conversion instructions, as value functions.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace dav {

// r nearest even, f floor, c ceiling, a nearest with ties away from zero, z towards zero,
// o odd: an inexact result gets an odd last bit.
enum class Round { EVEN, FLOOR, CEILING, AWAY, ZERO, ODD };

// Rounds to an integral value.
template <Round MODE> inline float integral(float x) {
    if constexpr (MODE == Round::EVEN)
        return std::nearbyint(x);
    else if constexpr (MODE == Round::FLOOR)
        return std::floor(x);
    else if constexpr (MODE == Round::CEILING)
        return std::ceil(x);
    else if constexpr (MODE == Round::ZERO)
        return std::trunc(x);
    else {
        const float whole = std::trunc(x);
        return std::fabs(x - whole) >= 0.5f ? whole + std::copysign(1.0f, x) : whole;
    }
}

// Whether a magnitude with last kept bit `odd`, and dropped part compared with one half as
// `remainder` <, =, > `half_way`, moves up by one.
template <Round MODE>
inline uint32_t increment(uint32_t negative, uint32_t odd, uint32_t remainder, uint32_t half_way) {
    if constexpr (MODE == Round::EVEN)
        return remainder > half_way || (remainder == half_way && odd);
    else if constexpr (MODE == Round::FLOOR)
        return negative && remainder;
    else if constexpr (MODE == Round::CEILING)
        return !negative && remainder;
    else if constexpr (MODE == Round::AWAY)
        return remainder >= half_way;
    else if constexpr (MODE == Round::ODD)
        return remainder && !odd;
    else
        return 0;
}

inline uint32_t float_bits(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    return bits;
}

// binary32 to binary16 bits. A magnitude that does not fit becomes infinity in every mode (the
// vector unit then saturates it when CTRL[48] says so); NaN becomes the quiet NaN.
template <Round MODE> inline uint16_t to_half_bits(float x) {
    const uint32_t bits = float_bits(x);
    const uint32_t negative = bits >> 31, magnitude = bits & 0x7fffffffu;
    const uint32_t sign = negative << 15;
    if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
    if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65536 and up
    const uint32_t exponent = magnitude >> 23;
    uint32_t kept, remainder, half_way;
    if (exponent >= 113) {  // normal in half
        const uint32_t shifted = magnitude - (112u << 23);
        kept = shifted >> 13;
        remainder = shifted & 0x1fffu;
        half_way = 0x1000u;
    } else {  // subnormal in half: the leading one becomes explicit
        const uint32_t drop = 126 - exponent;
        const uint32_t mantissa = exponent ? (magnitude & 0x7fffffu) | 0x800000u : magnitude;
        if (drop > 24) {
            kept = 0;
            remainder = mantissa != 0;
            half_way = 2;
        } else {
            kept = mantissa >> drop;
            remainder = mantissa & ((1u << drop) - 1);
            half_way = 1u << (drop - 1);
        }
    }
    kept += increment<MODE>(negative, kept & 1, remainder, half_way);
    return static_cast<uint16_t>(sign | kept);
}

// binary32 to bfloat16 bits.
template <Round MODE> inline uint16_t to_bfloat16_bits(float x) {
    const uint32_t bits = float_bits(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
    const uint32_t kept = bits >> 16;
    return static_cast<uint16_t>(kept +
                                 increment<MODE>(bits >> 31, kept & 1, bits & 0xffffu, 0x8000u));
}

// A 64-bit (or narrower) integer to binary32.
template <Round MODE> inline float to_float(int64_t x) {
    const bool negative = x < 0;
    const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
    if (magnitude < (1u << 24)) return static_cast<float>(x);
    const int drop = 40 - __builtin_clzll(magnitude);  // bits beyond 24
    uint64_t kept = magnitude >> drop;
    const uint64_t rest = magnitude & ((1ull << drop) - 1), half_way = 1ull << (drop - 1);
    // Only the comparison with one half matters, so three values stand for the remainder.
    const uint32_t remainder = rest == 0 ? 0 : rest < half_way ? 1 : rest == half_way ? 2 : 3;
    kept += increment<MODE>(negative, kept & 1, remainder, 2);
    const float value = std::ldexp(static_cast<float>(kept), drop);
    return negative ? -value : value;
}

// An integral (or infinite, or NaN) value to an integer of `bits` bits. NaN becomes 0; out of
// range saturates, or keeps the low bits when `truncate` is set.
template <class T> inline T to_integer(float whole, bool truncate, int bits = sizeof(T) * 8) {
    if (whole != whole) return 0;
    const bool is_signed = std::numeric_limits<T>::is_signed;
    const float limit = std::ldexp(1.0f, is_signed ? bits - 1 : bits);
    const float floor = is_signed ? -limit : 0.0f;
    if (whole >= floor && whole < limit) return static_cast<T>(whole);
    if (truncate) {
        if (std::isinf(whole) || std::fabs(whole) >= 0x1p63f) return 0;
        return static_cast<T>(static_cast<int64_t>(whole));
    }
    const int64_t top = static_cast<int64_t>(~0ull >> (64 - bits + is_signed));
    if (whole > 0) return static_cast<T>(top);
    return static_cast<T>(is_signed ? -top - 1 : 0);
}

}  // namespace dav
