// Registers of a cube core; one instance a core, reset at launch.
#pragma once

#include <cstdint>
#include <vector>

namespace dav {

// Registers of the cube core that instructions set and obey.
struct CubeState {
    uint64_t feature_map[2] = {0, 0};  // of A, of B: width | height << 16 | four paddings
    uint64_t padding = 0;              // bits of the padding element
    uint64_t load_repeat = 0;
    uint64_t quantize = 0;        // scalar parameter of the fixpipe
    uint64_t fixpipe_config = 0;  // addresses in the fixpipe buffer, unit flag
    uint64_t nd_parameters = 1;   // number of matrices | source stride | target stride
    uint64_t fill_value = 0;
    std::vector<uint8_t> sparse_indices;  // beside L0B, a quarter of its size; empty until used
};

}  // namespace dav
