// Registers of a core's vector unit; one instance a core, reset at launch.
#pragma once

#include <cstdint>

namespace dav {

struct MaskState {
    uint64_t low = ~0ull;   // lanes 0..63; in counter mode: the number of elements
    uint64_t high = ~0ull;  // lanes 64..127
    bool counter = false;   // counter mode
};

struct VectorState {
    MaskState mask;
    uint64_t accumulated = 0;      // get_acc_val
    uint64_t max_min_count = 0;    // get_max_min_cnt
    uint64_t reduce_count = 0;     // get_rsvd_cnt
    uint64_t compare_mask[2] = {0, 0};
    uint64_t dequantize_scale = 0;
    uint64_t va_address[8][8] = {};  // VA0..VA7: eight UB offsets each
};

}  // namespace dav
