#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "hazard.h"
#include "machine.h"

namespace dav {

namespace {
constexpr uint64_t FIRST_UB = 0x20000000;
constexpr uint64_t UB_SPACING = 0x200000;  // far more than UB: overruns land in unmapped memory
constexpr uint8_t PATTERN = 0xa5;
}  // namespace

uint8_t* map_ub(int index) {
    void* wanted = reinterpret_cast<void*>(FIRST_UB + uint64_t(index) * UB_SPACING);
    void* memory = mmap(wanted, UB_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != wanted)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "No memory for the UB of core %d.", index);
    std::memset(memory, PATTERN, UB_BYTES);
    return static_cast<uint8_t*>(memory);
}

uint32_t check_ub(const void* address, uint64_t bytes, uint32_t alignment, bool write,
                  const char* mnemonic, const void* site) {
    const uint32_t offset = ub_offset(address);
    const char* verb = write ? "writes" : "reads";
    if (offset == UINT32_MAX)
        fail(Outcome::MEMORY_ERROR, site, nullptr,
             "%s %s at address %p, which is not in the unified buffer of core %d.", mnemonic, verb,
             address, current->index);
    if (offset % alignment != 0)
        fail(Outcome::MEMORY_ERROR, site, nullptr,
             "%s %s %s, whose start is not a multiple of %u bytes.", mnemonic, verb,
             describe_ub(offset, static_cast<uint32_t>(std::max<uint64_t>(bytes, 1))).c_str(),
             alignment);
    if (offset + bytes > UB_BYTES)
        fail(Outcome::MEMORY_ERROR, site, nullptr,
             "%s %s %s, %llu bytes beyond the %u bytes of the unified buffer.", mnemonic, verb,
             describe_ub(offset, static_cast<uint32_t>(std::max<uint64_t>(bytes, 1))).c_str(),
             static_cast<unsigned long long>(offset + bytes - UB_BYTES), UB_BYTES);
    return offset;
}

void check_initialised(uint32_t offset, uint32_t bytes, const char* mnemonic, const void* site) {
    const uint32_t first = offset / BLOCK_BYTES;
    const uint32_t end = (offset + bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
    const void* hole = std::memchr(current->initialised + first, 0, end - first);
    if (hole == nullptr) return;
    const uint32_t block =
        static_cast<uint32_t>(static_cast<const uint8_t*>(hole) - current->initialised);
    uint32_t missing = 0;
    for (uint32_t i = block; i < end; ++i) missing += current->initialised[i] == 0;
    warn(site, "uninitialised", "%s reads %s, of which %u bytes from 0x%x on nothing has written.",
         mnemonic, describe_ub(offset, bytes).c_str(), missing * BLOCK_BYTES, block * BLOCK_BYTES);
}

}  // namespace dav
