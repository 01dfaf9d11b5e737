// The tensors of a launch as global memory and the comparison between cores know them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gm.h"

namespace dav {

struct Allocation {
    uint64_t start;
    uint64_t bytes;   // as asked for
    uint64_t usable;  // with the padding behind
    GmRole role;
    std::string name;
    bool has_values;       // before the launch
    uint32_t element = 0;  // bytes of one; 0: unknown
};
extern std::vector<Allocation> allocations;  // by address

// The one that holds the address, or null.
const Allocation* find_allocation(uint64_t address);

}  // namespace dav
