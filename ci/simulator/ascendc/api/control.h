// The control register: what the core does with numbers that a type cannot hold, and other modes.
#pragma once

#include "tensor.h"

namespace AscendC {

// Bits `first` to `last` of the register, both among them.
template <int8_t first, int8_t last> constexpr uint64_t control_bits() {
    static_assert(first >= 0 && first <= last && last <= 63,
                  "The bits of CTRL are 0 to 63, the first one first");
    return (~uint64_t(0) >> (63 - (last - first))) << first;
}
template <int8_t startBit, int8_t endBit> __aicore__ inline void SetCtrlSpr(int64_t value) {
    constexpr uint64_t bits = control_bits<startBit, endBit>();
    set_ctrl((uint64_t(get_ctrl()) & ~bits) | (uint64_t(value) << startBit & bits));
}
template <int8_t startBit, int8_t endBit> __aicore__ inline int64_t GetCtrlSpr() {
    return int64_t((uint64_t(get_ctrl()) & control_bits<startBit, endBit>()) >> startBit);
}

// FLOAT: results of half and bfloat16; CAST: casts to integers. Neither saturates where its bit
// is 1.
enum class SaturationMode : uint8_t { FLOAT, FLOAT8, INT, CAST };
template <SaturationMode mode> constexpr int8_t saturation_bit() {
    static_assert(mode == SaturationMode::FLOAT || mode == SaturationMode::CAST,
                  "The 910B saturates by FLOAT and CAST alone");
    return mode == SaturationMode::FLOAT ? 48 : 59;
}
template <SaturationMode mode> __aicore__ inline void SetSaturationFlag(bool enableSat) {
    SetCtrlSpr<saturation_bit<mode>(), saturation_bit<mode>()>(enableSat ? 0 : 1);
}
template <SaturationMode mode> __aicore__ inline bool GetSaturationFlag() {
    return GetCtrlSpr<saturation_bit<mode>(), saturation_bit<mode>()>() == 0;
}

}  // namespace AscendC
