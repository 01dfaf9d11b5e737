// Instructions of the scalar unit that have names of their own: counting bits, conversions of one
// value, immediate values, reads and writes of global memory past the data cache.
#pragma once

#include <cmath>
#include <cstdint>

#include "types.h"

#ifndef __gm__
#define __gm__
#endif

// ---- bits of a 64-bit register
inline int64_t bcnt0(uint64_t value) { return 64 - __builtin_popcountll(value); }
inline int64_t bcnt1(uint64_t value) { return __builtin_popcountll(value); }
inline int64_t clz(uint64_t value) { return value == 0 ? 64 : __builtin_clzll(value); }
// Position of the lowest 0 or 1; -1 when there is none.
inline int64_t sff1(uint64_t value) { return value == 0 ? -1 : __builtin_ctzll(value); }
inline int64_t sff0(uint64_t value) { return sff1(~value); }
// Bits below the sign bit that equal it, from the highest on.
inline int64_t sflbits(int64_t value) { return __builtin_clrsbll(value); }

// ---- conversions of one value; the last letter is the rounding, as for the vector unit's
namespace dav_scalar_unit {
inline int32_t saturated(double value) {
    if (std::isnan(value)) return 0;
    if (value >= 2147483647.0) return INT32_MAX;
    return value <= -2147483648.0 ? INT32_MIN : static_cast<int32_t>(value);
}
// Rounds to odd: towards zero, and the last bit is set when something was lost.
inline half to_half_odd(float value) {
    const half nearest = static_cast<half>(value);
    const float back = static_cast<float>(nearest);
    if (back == value || std::isnan(value)) return nearest;
    uint16_t bits;
    __builtin_memcpy(&bits, &nearest, sizeof(bits));
    if (std::fabs(back) > std::fabs(value)) --bits;
    bits |= 1;
    half odd;
    __builtin_memcpy(&odd, &bits, sizeof(odd));
    return odd;
}
}  // namespace dav_scalar_unit
inline int32_t conv_f322s32a(float value) { return dav_scalar_unit::saturated(std::round(value)); }
inline int32_t conv_f322s32c(float value) { return dav_scalar_unit::saturated(std::ceil(value)); }
inline int32_t conv_f322s32f(float value) { return dav_scalar_unit::saturated(std::floor(value)); }
inline int32_t conv_f322s32r(float value) {
    return dav_scalar_unit::saturated(std::nearbyint(value));
}
inline int32_t conv_f322s32z(float value) { return dav_scalar_unit::saturated(std::trunc(value)); }
inline half conv_f322f16o(float value) { return dav_scalar_unit::to_half_odd(value); }

// ---- immediate values: up to four parts of 16 bits
inline uint64_t get_imm(uint64_t part0, uint64_t part1 = 0, uint64_t part2 = 0,
                        uint64_t part3 = 0) {
    return part0 | part1 << 16 | part2 << 32 | part3 << 48;
}

// ---- hints and state that do not change what a kernel computes
inline void preload(const void*, int64_t = 0) {}
inline void PRELOAD(int64_t) {}
template <typename T> inline void dc_preload(__gm__ uint64_t*, T) {}
inline int64_t get_icache_prl_st() { return 0; }
inline int64_t get_arch_ver() { return 0; }
inline int64_t get_pc() { return 0; }
