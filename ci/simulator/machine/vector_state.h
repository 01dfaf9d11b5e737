// Registers of a core's vector unit; one instance a core, reset at launch.
#pragma once

#include <cstdint>

namespace dav {

struct MaskState {
    uint64_t low = ~0ull;        // lanes 0..63; in counter mode: the number of elements
    uint64_t high = ~0ull;       // lanes 64..127
    bool counter = false;        // counter mode
    const void* site = nullptr;  // of the kernel\'s own call that set it, or null
};

// Bits of the CTRL register that the vector unit obeys.
constexpr int CTRL_KEEP_INFINITY = 48;     // 0: half and bf16 results saturate, NaN becomes 0
constexpr int CTRL_SATURATE_INTEGER = 53;  // 1: integer arithmetic saturates instead of wrapping
constexpr int CTRL_COUNTER_MASK = 56;      // 1: counter mode; mirrored in MaskState::counter
constexpr int CTRL_TRUNCATE_CAST = 59;     // 1: casts to integers keep the low bits on overflow

struct VectorState {
    MaskState mask;
    // The runtime starts kernels of this generation in "inf/nan" mode, so the reset value has
    // CTRL[48] set although the register itself powers up as 0.
    uint64_t control = 1ull << CTRL_KEEP_INFINITY;
    uint64_t accumulated = 0;    // get_acc_val
    uint64_t max_min_count = 0;  // get_max_min_cnt
    uint64_t reduce_count = 0;   // get_rsvd_cnt
    uint64_t merged_counts = 0;  // get_vms4_sr: four 16-bit counts of consumed elements
    uint64_t compare_mask[2] = {0, 0};
    uint64_t dequantize_scale = 0;
    uint64_t va_address[8][8] = {};  // VA0..VA7: eight block addresses each
};

}  // namespace dav
