// What a kernel and the headers ask of a core or tell it, beside instructions.
#include <algorithm>
#include <set>

#include "gm_allocations.h"
#include "intrinsics_sync_copy.h"
#include "machine.h"
#include "memory.h"
#include "report.h"

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

void dav_tiling_size(uint64_t bytes) {
    if (current == nullptr || bytes <= launch().tiling_bytes) return;
    warn(__builtin_return_address(0), "short_tiling", "",
         "The kernel reads a structure of %llu bytes; the host side gives %llu bytes of tiling "
         "data.",
         static_cast<unsigned long long>(bytes),
         static_cast<unsigned long long>(launch().tiling_bytes));
}

void dav_view(uint64_t address, uint64_t bytes) {
    if (current == nullptr || bytes == 0) return;
    auto& views = current->views;
    const std::pair<uint64_t, uint64_t> mine{address, address + bytes};
    for (const auto& one : views) {
        const auto& [low, high] = std::minmax(one, mine);
        // One within another is a part of it.
        if (low.first == high.first || low.second <= high.first || low.second >= high.second)
            continue;
        warn(__builtin_return_address(0), "views", "",
             "A tensor of %llu bytes begins %llu bytes before the end of another one, or ends so "
             "far behind its begin.",
             static_cast<unsigned long long>(bytes),
             static_cast<unsigned long long>(low.second - high.first));
    }
    views.insert(mine);
}

void dav_elements(uint64_t address, uint64_t bytes, const char* dtype) {
    if (current == nullptr) return;
    const Allocation* one = find_allocation(address);
    if (one == nullptr) return;
    if (*dtype != '\0') take_as(one->name, dtype);
    if (one->element == 0 || one->element == bytes) return;
    warn(__builtin_return_address(0), "element_size", "",
         "The elements of %s have %u bytes; here it is taken as a tensor whose elements have %llu.",
         one->name.c_str(), one->element, static_cast<unsigned long long>(bytes));
}

void dav_extent(uint64_t address, uint64_t first, uint64_t last) {
    if (current == nullptr) return;
    if (last == 0)
        current->extents.erase(address);
    else
        current->extents[address] = {first, last};
}

void dav_free(const void* buffer) {
    if (current != nullptr) current->freed[buffer] = __builtin_return_address(0);
}

void dav_use_freed(const void* buffer) {
    if (current == nullptr) return;
    const auto found = current->freed.find(buffer);
    if (found == current->freed.end()) return;
    warn_pair(__builtin_return_address(0), found->second, "freed", "",
              "A tensor is used that FreeTensor gave back before: its buffer is the next tensor's, "
              "and no flag keeps that one's data from it.");
}

void dav_narrowed(const char* kind, int64_t given, int64_t becomes, uint32_t bits) {
    if (current == nullptr) return;
    warn(__builtin_return_address(0), kind, "",
         "The number %lld is given where there are %u bits: it becomes %lld.",
         static_cast<long long>(given), bits, static_cast<long long>(becomes));
}

void dav_quotient(int64_t value, bool rest) {
    if (current != nullptr)
        current->quotient = {value, rest ? __builtin_return_address(0) : nullptr};
}

void dav_fraction(int64_t value) {
    if (current == nullptr || current->quotient.second == nullptr) return;
    if (current->quotient.first != value) return;
    warn(current->quotient.second, "whole_ratio", "",
         "A quotient of whole numbers becomes a number of floating point: it is %lld, and its "
         "fraction is lost.",
         static_cast<long long>(value));
}

void dav_wrapped(const char* what) {
    if (current != nullptr)
        warn(__builtin_return_address(0), "wrapped", what,
             "This %s of unsigned integers is larger than 32 bits: it wraps.", what);
}

void dav_below_zero(uint64_t below, uint64_t becomes) {
    if (current != nullptr)
        warn(__builtin_return_address(0), "below_zero", "",
             "A difference of unsigned integers is -%llu: it becomes %llu.",
             static_cast<unsigned long long>(below), static_cast<unsigned long long>(becomes));
}

void dav_limit(const char* message, const char* kind) {
    if (current != nullptr) warn(__builtin_return_address(0), kind, "", "%s", message);
}

namespace {
// Whether memory is zero, or the running core has been asked about it before.
bool zero_at_first(const void* place, uint64_t bytes) {
    static std::set<std::pair<uint64_t, int>> asked;
    const auto* begin = static_cast<const uint8_t*>(place);
    return !asked.insert({reinterpret_cast<uint64_t>(place), current->index}).second ||
           std::all_of(begin, begin + bytes, [](uint8_t byte) { return byte == 0; });
}
}  // namespace

void dav_sync_flags(const void* flags, uint64_t local_bytes, int32_t cores) {
    if (current == nullptr || launch().addresses) return;
    const void* site = __builtin_return_address(0);
    const auto address = reinterpret_cast<uint64_t>(flags);
    const uint64_t bytes = uint64_t(std::max(0, cores)) * BLOCK_BYTES;
    const Allocation* tensor = find_allocation(address);
    if (tensor == nullptr || address + bytes > tensor->start + tensor->bytes)
        return warn(site, "limit", "flags",
                    "SyncAll of %d cores needs %llu bytes of flags in global memory.", cores,
                    static_cast<unsigned long long>(bytes));
    if (local_bytes < bytes)
        warn(site, "limit", "local", "SyncAll of %d cores needs %llu bytes of UB and has %llu.",
             cores, static_cast<unsigned long long>(bytes),
             static_cast<unsigned long long>(local_bytes));
    // later meetings find what the first one left there
    if (!zero_at_first(flags, bytes))
        warn(site, "limit", "zero",
             "The flags of SyncAll in global memory are not zero when core %d comes to it.",
             current->index);
}

void dav_sync_counts(const void* counts, uint64_t bytes) {
    if (current == nullptr || launch().addresses) return;
    const void* site = __builtin_return_address(0);
    const auto address = reinterpret_cast<uint64_t>(counts);
    const Allocation* tensor = find_allocation(address);
    if (tensor == nullptr || address + bytes > tensor->start + tensor->bytes)
        return warn(site, "limit", "counts",
                    "This GroupBarrier needs %llu bytes of global memory to count in.",
                    static_cast<unsigned long long>(bytes));
    if (!zero_at_first(counts, bytes))
        warn(site, "limit", "zero",
             "The global memory in which a GroupBarrier counts is not zero when core %d comes to "
             "it.",
             current->index);
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
