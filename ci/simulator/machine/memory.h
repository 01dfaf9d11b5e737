// The unified buffers of the cores.
#pragma once

#include <cstdint>

#include "core.h"

namespace dav {

// Maps core `index`'s UB at a fixed low address (below 4 GiB, so that instructions which encode
// 32-bit addresses keep them), filled with a pattern that is no plausible value, with unmapped
// memory behind.
uint8_t* map_ub(int index);

// Checks one operand range of the running core: bounds and alignment end the launch as a memory
// error; a read of bytes that nothing wrote is a warning. Returns the UB offset.
uint32_t check_ub(const void* address, uint64_t bytes, uint32_t alignment, bool write,
                  const char* mnemonic, const void* site);
// Only the warning part, for a range that has been checked.
void check_initialised(uint32_t offset, uint32_t bytes, const char* mnemonic, const void* site);

}  // namespace dav
