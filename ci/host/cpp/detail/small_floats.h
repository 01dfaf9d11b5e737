// float16 and bfloat16 as host code of the ops-math layout holds them: two bytes that convert.
#pragma once

#include <cstdint>
#include <cstring>

namespace Ops {
namespace Base {
struct fp16_t {
    uint16_t val = 0;

    fp16_t() = default;
    template <class T> fp16_t(const T& value) : val(bits_of(static_cast<_Float16>(value))) {}
    template <class T> fp16_t& operator=(const T& value) {
        val = bits_of(static_cast<_Float16>(value));
        return *this;
    }
    operator float() const {
        _Float16 half;
        std::memcpy(&half, &val, sizeof half);
        return static_cast<float>(half);
    }

private:
    static uint16_t bits_of(_Float16 value) {
        uint16_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        return bits;
    }
};

// Rounds to nearest even; a NaN stays one.
struct bfloat16 {
    uint16_t value = 0;

    bfloat16() = default;
    bfloat16(float wide) {
        uint32_t bits;
        std::memcpy(&bits, &wide, sizeof bits);
        const bool nan = wide != wide;
        value = static_cast<uint16_t>(nan ? (bits >> 16) | 0x40
                                          : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
    }
    operator float() const {
        const uint32_t bits = static_cast<uint32_t>(value) << 16;
        float wide;
        std::memcpy(&wide, &bits, sizeof wide);
        return wide;
    }
};
}  // namespace Base
}  // namespace Ops
