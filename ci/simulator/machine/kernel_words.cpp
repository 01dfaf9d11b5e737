// What a kernel and the headers ask of a core or tell it, beside instructions.
#include <algorithm>

#include "gm_allocations.h"
#include "intrinsics_sync_copy.h"
#include "machine.h"

using namespace dav;

int64_t get_block_idx() { return current->block; }
int64_t get_block_num() { return launch().block_dim; }
int64_t get_subblockid() { return current->sub_block; }
int64_t get_subblockdim() { return std::max(1, launch().vectors_per_block); }
int64_t get_coreid() { return current->block % launch().resident_blocks; }

__ubuf__ uint8_t* dav_ub_base() { return current->ub; }
uint64_t dav_memory_base(int32_t memory) {
    return reinterpret_cast<uint64_t>(current->ub) + MEMORIES[memory].start;
}

void dav_ub_note(uint32_t offset, uint32_t bytes, const char* name) {
    Core& core = *current;
    if (core.cube) return;
    const uint64_t end = uint64_t(offset) + bytes;
    core.ub_peak = std::max(core.ub_peak, static_cast<uint32_t>(std::min<uint64_t>(end, 1u << 30)));
    if (end > UB_BYTES)
        warn(__builtin_return_address(0), "ub_request", name ? name : "",
             "Buffer %s asks for %u bytes of UB from 0x%x on, beyond the %u there are.",
             name ? name : "", bytes, offset, UB_BYTES);
    constexpr size_t MOST = 256;
    if (core.buffers.size() < MOST) core.buffers.push_back({offset, bytes, name ? name : ""});
}

void dav_extent(uint64_t address, uint64_t first, uint64_t last) {
    if (current == nullptr || current->cube) return;
    if (last == 0)
        current->extents.erase(address);
    else
        current->extents[address] = {first, last};
}

void dav_narrowed(const char* kind, int64_t given, int64_t becomes, uint32_t bits) {
    if (current == nullptr) return;
    warn(__builtin_return_address(0), kind, "",
         "The number %lld is given where there are %u bits: it becomes %lld.",
         static_cast<long long>(given), bits, static_cast<long long>(becomes));
}

void dav_own_mask() {
    if (current != nullptr) mask().site = __builtin_return_address(0);
}

void dav_offset(uint64_t address, uint32_t bits, uint32_t bytes) {
    if (current == nullptr) return;
    const Allocation* tensor = find_allocation(address);
    if (tensor == nullptr || tensor->bytes / bytes <= 1ull << bits) return;
    warn(__builtin_return_address(0), "narrow_offset", tensor->name.c_str(),
         "An offset of %u bits is used in %s of %llu elements: it wraps.", bits,
         tensor->name.c_str(), static_cast<unsigned long long>(tensor->bytes / bytes));
}

#define DAV_WATCH(number)                                            \
    void set_data_exp_##number(uint64_t config) {                    \
        current->watched.values[number] = config;                    \
        current->watched.any = current->watched.any || (config & 1); \
    }
DAV_WATCH(0)
DAV_WATCH(1)
DAV_WATCH(2)
DAV_WATCH(3)

void dav_fail(const char* message) {
    fail(Outcome::LAUNCH_ERROR, __builtin_return_address(0), nullptr, "%s", message);
}
