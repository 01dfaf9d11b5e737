// Element types of the dav-c220 AI core, as the device compiler names them.
//
// Kernels see these names in the global namespace. The types carry storage and the conversions the
// hardware defines as plain value conversions (round to nearest even); every other rounding is an
// instruction of the vector unit (vector_convert.cpp).
#pragma once

#include <cstdint>
#include <cstring>

using half = _Float16;
using float16_t = half;
using float32_t = float;

// Brain float: the upper 16 bits of an IEEE binary32. g++ 12 has no __bf16, so this is a struct;
// it converts implicitly to float, so arithmetic happens in binary32 as on the scalar unit.
struct bfloat16_t {
    uint16_t bits;

    bfloat16_t() = default;
    bfloat16_t(float value) : bits(rounded(value)) {}
    bfloat16_t(double value) : bits(rounded(static_cast<float>(value))) {}
    bfloat16_t(half value) : bits(rounded(static_cast<float>(value))) {}
    bfloat16_t(int value) : bits(rounded(static_cast<float>(value))) {}
    bfloat16_t(unsigned value) : bits(rounded(static_cast<float>(value))) {}
    bfloat16_t(long value) : bits(rounded(static_cast<float>(value))) {}
    bfloat16_t(unsigned long value) : bits(rounded(static_cast<float>(value))) {}

    operator float() const {
        const uint32_t wide = static_cast<uint32_t>(bits) << 16;
        float value;
        std::memcpy(&value, &wide, sizeof(value));
        return value;
    }

    // Round to nearest, ties to even. A NaN stays a (quiet) NaN instead of rounding up to infinity.
    static uint16_t rounded(float value) {
        uint32_t wide;
        std::memcpy(&wide, &value, sizeof(wide));
        if ((wide & 0x7fffffffU) > 0x7f800000U) return static_cast<uint16_t>((wide >> 16) | 0x40U);
        return static_cast<uint16_t>((wide + 0x7fffU + ((wide >> 16) & 1U)) >> 16);
    }

    static bfloat16_t from_bits(uint16_t raw) {
        bfloat16_t value;
        value.bits = raw;
        return value;
    }
};

inline bfloat16_t& operator+=(bfloat16_t& a, float b) { return a = bfloat16_t(float(a) + b); }
inline bfloat16_t& operator-=(bfloat16_t& a, float b) { return a = bfloat16_t(float(a) - b); }
inline bfloat16_t& operator*=(bfloat16_t& a, float b) { return a = bfloat16_t(float(a) * b); }
inline bfloat16_t& operator/=(bfloat16_t& a, float b) { return a = bfloat16_t(float(a) / b); }

// Two signed 4-bit integers a byte, the first in the low half. sizeof is one byte: an int4b_t
// pointer counts pairs, and the AscendC layer halves element counts itself.
struct int4b_t {
    uint8_t storage;

    int4b_t() = default;
    constexpr int4b_t(int8_t value) : storage(static_cast<uint8_t>(value & 0x0f)) {}
    constexpr int8_t low() const {
        return static_cast<int8_t>(static_cast<int8_t>(storage << 4) >> 4);
    }
    constexpr int8_t high() const { return static_cast<int8_t>(static_cast<int8_t>(storage) >> 4); }
};

// The device compiler's own word. Later hosts have a type of that name, which is another.
#define __bf16 bfloat16_t

static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2 && sizeof(int4b_t) == 1,
              "element types must have the sizes the memories assume");
