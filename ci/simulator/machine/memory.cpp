#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "hazard.h"
#include "machine.h"

namespace dav {

namespace {
constexpr uint64_t FIRST_UB = 0x20000000;
constexpr uint64_t SPACING = 0x200000;
static_assert(SPACING > LOCAL_BYTES, "overruns must land in unmapped memory");
constexpr uint64_t MOST = ((1ull << 32) - FIRST_UB) / SPACING;

uint64_t mapped = 0;  // cores that have memories, or had
std::vector<std::unique_ptr<LocalMemory>> idle[2];

void map(uint8_t* base, const MemoryPlace& place) {
    constexpr uint32_t PAGE = 4096;
    void* wanted = base + place.start;
    const size_t bytes = (place.bytes + PAGE - 1) / PAGE * PAGE;
    // All of it is filled for each block: having the pages at once saves a fault for each.
    void* memory = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1, 0);
    if (memory != wanted)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "No memory for the %s of a core.",
             place.name);
}

std::unique_ptr<LocalMemory> make_memory(bool cube) {
    if (mapped == MOST)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr,
             "More than %llu cores wait for each other at the same time.",
             static_cast<unsigned long long>(MOST));
    auto made = std::make_unique<LocalMemory>();
    made->base = reinterpret_cast<uint8_t*>(FIRST_UB + mapped++ * SPACING);
    made->blocks = (cube ? LOCAL_BYTES : UB_BYTES) / BLOCK_BYTES;
    // A cube core has no UB, but the vector instructions that it passes over may name one.
    map(made->base, place_of(Memory::UB));
    if (cube)
        for (int memory = int(Memory::L1); memory <= int(Memory::FIXBUF); ++memory)
            map(made->base, MEMORIES[memory]);
    return made;
}
}  // namespace

void take_memory(Core& core) {
    auto& pool = idle[core.cube];
    if (pool.empty()) pool.push_back(make_memory(core.cube));
    core.local = pool.back().release();
    pool.pop_back();
    core.ub = core.local->base;
    const auto poison = [&](const MemoryPlace& place) {
        std::memset(core.ub + place.start, launch().poison, place.bytes);
    };
    poison(place_of(Memory::UB));
    for (int memory = int(Memory::L1); core.cube && memory <= int(Memory::FIXBUF); ++memory)
        poison(MEMORIES[memory]);
    core.local->writer.assign(core.local->blocks, 0);
    core.local->initialised.assign(core.local->blocks, 0);
    for (auto& reader : core.local->reader) reader.assign(core.local->blocks, 0);
}

void return_memory(Core& core) {
    idle[core.cube].emplace_back(core.local);
    core.local = nullptr;
}

bool in_local_memories(const void* address) {
    // All that is kept for them counts, whether a core has it at the moment or not.
    const uint64_t distance = reinterpret_cast<uint64_t>(address) - (FIRST_UB - SPACING);
    return distance < (MOST + 1) * SPACING;
}

uint32_t check_local(Memory memory, const void* address, uint64_t bytes, uint32_t alignment,
                     bool write, const char* mnemonic, const void* site) {
    const MemoryPlace& place = place_of(memory);
    const uint32_t offset = local_offset(memory, address);
    const char* verb = write ? "writes" : "reads";
    const char* name = memory == Memory::UB ? "the unified buffer" : place.name;
    if (offset == UINT32_MAX || (memory != Memory::UB && !current->cube))
        fail(Outcome::MEMORY_ERROR, site, nullptr,
             "%s %s at address %p, which is not in %s of core %d.", mnemonic, verb, address, name,
             current->index);
    const uint64_t end = uint64_t(offset) - place.start + bytes;
    const auto where = [&] {
        return describe_ub(offset, static_cast<uint32_t>(std::max<uint64_t>(bytes, 1)));
    };
    if (offset % alignment != 0)
        fail(Outcome::MEMORY_ERROR, site, nullptr,
             "%s %s %s, whose start is not a multiple of %u bytes.", mnemonic, verb,
             where().c_str(), alignment);
    if (end > place.bytes)
        fail(Outcome::MEMORY_ERROR, site, nullptr,
             "%s %s %s, %llu bytes beyond the %u bytes of %s.", mnemonic, verb, where().c_str(),
             static_cast<unsigned long long>(end - place.bytes), place.bytes, name);
    return offset;
}

void check_extent(const void* address, uint64_t bytes, bool write, const char* mnemonic,
                  const void* site) {
    check_reach(address, address, bytes, write, mnemonic, site);
}

void check_reach(const void* tensor, const void* address, uint64_t bytes, bool write,
                 const char* mnemonic, const void* site) {
    const auto found = current->extents.find(reinterpret_cast<uint64_t>(tensor));
    if (found == current->extents.end()) return;
    const auto& [first, last] = found->second;
    const auto start = reinterpret_cast<uint64_t>(address);
    if (start >= first && start + bytes <= last) return;
    warn(site, "overrun", mnemonic,
         "%s %s %llu bytes from byte %lld of a buffer of %llu bytes on, %llu bytes beyond it.",
         mnemonic, write ? "writes" : "reads", static_cast<unsigned long long>(bytes),
         static_cast<long long>(start - first), static_cast<unsigned long long>(last - first),
         static_cast<unsigned long long>(start < first ? first - start : start + bytes - last));
}

void check_initialised(uint32_t offset, uint32_t bytes, const char* mnemonic, const void* site) {
    const uint32_t first = offset / BLOCK_BYTES;
    const uint32_t end = (offset + bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
    const uint8_t* initialised = current->local->initialised.data();
    const void* hole = std::memchr(initialised + first, 0, end - first);
    if (hole == nullptr) return;
    const uint32_t block = static_cast<uint32_t>(static_cast<const uint8_t*>(hole) - initialised);
    uint32_t missing = 0;
    for (uint32_t i = block; i < end; ++i) missing += initialised[i] == 0;
    // What wrote the rest of the operand has left them out.
    uint32_t writer = 0;
    for (uint32_t i = first; i < block; ++i) writer = std::max(writer, current->local->writer[i]);
    const void* next = writer == 0 ? nullptr : site_address(current->records[writer].site);
    warn_pair(site, next, "uninitialised", mnemonic,
              "%s reads %s, of which %u bytes from 0x%x on nothing has written.", mnemonic,
              describe_ub(offset, bytes).c_str(), missing * BLOCK_BYTES, block * BLOCK_BYTES);
}

}  // namespace dav
