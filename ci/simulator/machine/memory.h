// The memories of the cores.
#pragma once

#include <cstdint>

#include "core.h"
#include "machine.h"

namespace dav {

// Gives a core memories of its own while its block runs: at a fixed low address (below 4 GiB, so
// that instructions which encode 32-bit addresses keep them), with unmapped memory behind. All of
// it is Launch::poison until it is written.
void take_memory(Core& core);
void return_memory(Core& core);
// True for an address that is kept for the memories of any core.
bool in_local_memories(const void* address);

// Checks one operand range of the running core: bounds and alignment end the launch as a memory
// error. Returns the local offset.
uint32_t check_local(Memory memory, const void* address, uint64_t bytes, uint32_t alignment,
                     bool write, const char* mnemonic, const void* site);
inline uint32_t check_ub(const void* address, uint64_t bytes, uint32_t alignment, bool write,
                         const char* mnemonic, const void* site) {
    return check_local(Memory::UB, address, bytes, alignment, write, mnemonic, site);
}
// Warns where the range leaves the buffer that a kernel built to be checked took the address from.
void check_extent(const void* address, uint64_t bytes, bool write, const char* mnemonic,
                  const void* site);
// The same for a range that an instruction finds from the address `tensor` on.
void check_reach(const void* tensor, const void* address, uint64_t bytes, bool write,
                 const char* mnemonic, const void* site);
// Only the warning part, for a range that has been checked.
void check_initialised(uint32_t offset, uint32_t bytes, const char* mnemonic, const void* site);

}  // namespace dav
