// What a program sees that calls operators or launches kernels: the runtime, and words of the
// device's compiler.
#pragma once

#include "runtime.h"

// The toolkit's types of 16 bits, as far as programs fill tensors with them.
namespace op {
struct fp16_t {
    uint16_t val = 0;
    fp16_t() = default;
    fp16_t(float value) : val(aclFloatToFloat16(value)) {}
    operator float() const { return aclFloat16ToFloat(val); }
};
struct bfloat16 {
    uint16_t value = 0;
    bfloat16() = default;
    bfloat16(float from) {
        uint32_t bits;
        std::memcpy(&bits, &from, sizeof bits);
        value = uint16_t(bits + 0x7fff + (bits >> 16 & 1) >> 16);
    }
    operator float() const {
        uint32_t bits = uint32_t(value) << 16;
        float from;
        std::memcpy(&from, &bits, sizeof from);
        return from;
    }
};
}  // namespace op

// Words of the device's compiler, as far as they stand in what a host compiles.
#define __global__
#define __aicore__
#define __gm__
#define __vector__
#define __cube__
#define __mix__(...)
#define __schedmode__(...)
using GM_ADDR = uint8_t*;
#ifndef ASCENDOPT_LIBRARY_TYPES
using half = op::fp16_t;
template <> constexpr const char* ascendopt::type_name<half> = "half";
#endif
using bfloat16_t = op::bfloat16;
template <> constexpr const char* ascendopt::type_name<bfloat16_t> = "bfloat16_t";
namespace AscendC {}
