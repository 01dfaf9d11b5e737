// The scalar unit's memory accesses: GetValue and SetValue by the headers' hooks, raw pointers by
// the calls that the compiler's access instrumentation (-fsanitize=thread) puts before each load
// and store. Both are checked, ordered and charged alike.
#include <algorithm>
#include <cstring>

#include "constants.h"
#include "data_cache.h"
#include "conflicts.h"
#include "cover.h"
#include "gm.h"
#include "hazard.h"
#include "image.h"
#include "intrinsics_sync_copy.h"
#include "low_address.h"
#include "machine.h"
#include "memory.h"
#include "message.h"
#include "scalar.h"
#include "use.h"

namespace dav {
namespace {

// One record stands for all scalar accesses up to the next pipe instruction.
uint32_t scalar_record(const void* site) {
    Core& core = *current;
    const uint32_t newest = static_cast<uint32_t>(core.records.size() - 1);
    if (core.records[newest].kind == Kind::SCALAR) return newest;
    return append(Record::of(Kind::SCALAR, S, "scalar_access"), site);
}

// Whether the newest record is one of scalar accesses and has done the like to this 32-byte block
// of UB already: nothing was issued since, so every check would find again what it found then.
bool repeated(const Core& core, uint32_t offset, uint32_t bytes, bool write) {
    const uint32_t newest = static_cast<uint32_t>(core.records.size() - 1);
    if (offset % BLOCK_BYTES + bytes > BLOCK_BYTES || core.records[newest].kind != Kind::SCALAR)
        return false;
    const uint32_t block = offset / BLOCK_BYTES;
    return (write ? core.local->writer : core.local->reader[0])[block] == newest;
}

void access(const void* pointer, uint32_t bytes, bool write, const char* name, const void* site) {
    Core& core = *current;
    if (core.gm.storing.bytes > 0) settle_scalar_store();
    const uint32_t offset = ub_offset(pointer);
    // The part of a tensor that was given is looked at with the tensor.
    const bool of_buffer = offset != UINT32_MAX || !near_gm(reinterpret_cast<uint64_t>(pointer));
    if (of_buffer && !core.extents.empty()) {
        check_extent(pointer, bytes, write, name, site);
        core.extents.erase(reinterpret_cast<uint64_t>(pointer));
    }
    if (offset < UB_BYTES && !core.cube && repeated(core, offset, bytes, write)) {
        count_scalar(write ? UB_STORES : UB_LOADS);
        return;
    }
    if (launch().addresses) {
        if (offset != UINT32_MAX) return;
        const Transfer one{reinterpret_cast<uint64_t>(pointer), bytes, bytes, 1, write};
        check_gm(one, name, site);
        return note_cover(one);
    }
    Hazards hazards(S, name, site);
    if (offset != UINT32_MAX && core.cube) return;  // it has no UB
    if (offset != UINT32_MAX) {
        if (uint64_t(offset) + bytes > UB_BYTES)
            fail(Outcome::MEMORY_ERROR, site, nullptr, "%s %s %s, beyond the %u bytes of UB.", name,
                 write ? "writes" : "reads", describe_ub(offset, bytes).c_str(), UB_BYTES);
        if (write) {
            hazards.write_ub(offset, bytes);
        } else {
            if (!core.local->initialised[offset / BLOCK_BYTES])
                warn(site, "uninitialised", name, "%s reads %s, which nothing has written.", name,
                     describe_ub(offset, bytes).c_str());
            hazards.read_ub(offset, bytes);
        }
        hazards.settle();
        const uint32_t record = scalar_record(site);
        if (write)
            mark_ub_write(offset, bytes, record);
        else
            mark_ub_read(S, offset, bytes, record);
        count_scalar(write ? UB_STORES : UB_LOADS);
        return;
    }
    const Transfer span{reinterpret_cast<uint64_t>(pointer), bytes, bytes, 1, write};
    if (!near_gm(span.start))
        fail(Outcome::MEMORY_ERROR, site, nullptr,
             "%s %s address 0x%llx, which is in no tensor and no memory of the core: an index is "
             "negative, or far too large.",
             name, write ? "writes" : "reads", static_cast<unsigned long long>(span.start));
    check_gm(span, name, site);
    check_behind(span, name, site);
    if (launch().checked && !write) note_input_read(span, site);
    if (write)
        hazards.write_gm(span);
    else
        hazards.read_gm(span);
    hazards.settle();
    const uint32_t record = scalar_record(site);
    mark_gm(S, span, record);
    const bool hit = through_cache(span, name, site);
    count_scalar(hit ? GM_HITS : GM_MISSES);
    if (!hit) core.scalar.misses.push_back({record, span.start, write});
    (write ? core.scalar.write_bytes : core.scalar.read_bytes) += bytes;
    if (write)
        note_scalar_store(span, site);
    else if (!is_message_line(span.start))
        note_shared(span, false, site);
}

// What the last hook announced: the raw access behind it is not charged again. The compiler may
// have dropped that one, so the size counts too: no block copy passes in its stead.
const void* announced = nullptr;
uint64_t announced_bytes = 0;

// The latest read and write of a whole aggregate that the instrumentation saw: what the compiler
// calls a block function for next, whose accesses are not charged again.
struct Range {
    const void* start;
    uint64_t bytes;
};
constexpr Range NO_RANGE{nullptr, 0};
Range aggregate[2] = {NO_RANGE, NO_RANGE};

// Runs at each load and store: one assigned from the other would wait for what was just stored.
inline void forget_aggregates() {
    if (aggregate[false].start != nullptr) aggregate[false] = NO_RANGE;
    if (aggregate[true].start != nullptr) aggregate[true] = NO_RANGE;
}

constexpr uint64_t WORD = 8;  // bytes of a scalar load or store

// Of the machine's memories; all others are this program's own.
bool is_simulated(const void* pointer) {
    const uint64_t address = reinterpret_cast<uint64_t>(pointer);
    const uint64_t in_ub = address - reinterpret_cast<uint64_t>(current->ub);
    return in_ub < UB_BYTES || address - gm_first_address() < gm_extent() || is_low(pointer);
}

// A raw access that the instrumentation saw: only UB and global memory are the machine's.
void raw_access(const void* pointer, uint64_t bytes, bool write, const void* site) {
    if (current == nullptr) return;
    if (!is_simulated(pointer)) {
        if (in_local_memories(pointer))
            fail(Outcome::MEMORY_ERROR, site, nullptr,
                 "Core %d %s the unified buffer of another core.", current->index,
                 write ? "writes" : "reads");
        if (write && launch().checked && !launch().true_offsets && in_image(pointer))
            warn(site, "kept", "",
                 "A static or global variable gets a value: it lies in global memory, where the "
                 "next launch and the other cores find what this one leaves.");
        return;
    }
    if (pointer == announced && bytes <= announced_bytes) {
        announced = nullptr;
        return;
    }
    for (uint64_t at = 0; at < bytes; at += WORD)
        access(static_cast<const uint8_t*>(pointer) + at,
               static_cast<uint32_t>(std::min(WORD, bytes - at)), write,
               write ? "A store through a pointer" : "A load through a pointer", site);
}

// One side of a block function. Local variables cost an instruction a word; what copies the tiling
// data, as each kernel does first, is part of the launch.
void block_access(const void* pointer, uint64_t bytes, bool write, const void* site) {
    Range& seen = aggregate[write];
    const bool known = seen.start == pointer && seen.bytes == bytes;
    seen = NO_RANGE;
    if (current == nullptr || known) return;
    if (!is_simulated(pointer) && !in_local_memories(pointer))
        return count_scalar((bytes + WORD - 1) / WORD);
    if (!write && in_tiling(reinterpret_cast<uint64_t>(pointer))) return;
    raw_access(pointer, bytes, write, site);
}

}  // namespace
}  // namespace dav

void dav_scalar_load(const void* address, uint32_t bytes) {
    dav::access(address, bytes, false, "GetValue", __builtin_return_address(0));
    dav::announced = address;
    dav::announced_bytes = bytes;
}

void dav_scalar_store(void* address, uint32_t bytes) {
    dav::access(address, bytes, true, "SetValue", __builtin_return_address(0));
    dav::announced = address;
    dav::announced_bytes = bytes;
}

// Most of what a kernel's own code touches are the core's own variables, which nobody else sees.
#define DAV_SEEN(name, bytes, write)                                                  \
    extern "C" void name(void* address) {                                             \
        dav::forget_aggregates();                                                     \
        if (address > __builtin_frame_address(0) && address < dav::stack_end) return; \
        dav::raw_access(address, bytes, write, __builtin_return_address(0));          \
    }
#define DAV_SEEN_BOTH(kind, bytes)                     \
    DAV_SEEN(__tsan_##kind##read##bytes, bytes, false) \
    DAV_SEEN(__tsan_##kind##write##bytes, bytes, true)
DAV_SEEN_BOTH(, 1)
DAV_SEEN_BOTH(, 2)
DAV_SEEN_BOTH(, 4)
DAV_SEEN_BOTH(, 8)
DAV_SEEN_BOTH(, 16)
DAV_SEEN_BOTH(unaligned_, 2)
DAV_SEEN_BOTH(unaligned_, 4)
DAV_SEEN_BOTH(unaligned_, 8)
DAV_SEEN_BOTH(unaligned_, 16)
DAV_SEEN_BOTH(volatile_, 1)
DAV_SEEN_BOTH(volatile_, 2)
DAV_SEEN_BOTH(volatile_, 4)
DAV_SEEN_BOTH(volatile_, 8)
DAV_SEEN_BOTH(volatile_, 16)
DAV_SEEN_BOTH(unaligned_volatile_, 2)
DAV_SEEN_BOTH(unaligned_volatile_, 4)
DAV_SEEN_BOTH(unaligned_volatile_, 8)
DAV_SEEN_BOTH(unaligned_volatile_, 16)

extern "C" void __tsan_read_range(void* address, unsigned long bytes) {
    dav::raw_access(address, bytes, false, __builtin_return_address(0));
    dav::aggregate[false] = {address, bytes};
}
extern "C" void __tsan_write_range(void* address, unsigned long bytes) {
    dav::raw_access(address, bytes, true, __builtin_return_address(0));
    dav::aggregate[true] = {address, bytes};
}
extern "C" void __tsan_vptr_update(void** address, void*) {
    dav::raw_access(address, sizeof(void*), true, __builtin_return_address(0));
}
extern "C" void __tsan_vptr_read(void** address) {
    dav::raw_access(address, sizeof(void*), false, __builtin_return_address(0));
}
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}

// The library's block functions, when the kernel is linked with --wrap for them.
extern "C" void* __wrap_memcpy(void* to, const void* from, size_t bytes) {
    dav::block_access(from, bytes, false, __builtin_return_address(0));
    dav::block_access(to, bytes, true, __builtin_return_address(0));
    return std::memcpy(dav::true_address(to), dav::true_address(from), bytes);
}
extern "C" void* __wrap_memmove(void* to, const void* from, size_t bytes) {
    dav::block_access(from, bytes, false, __builtin_return_address(0));
    dav::block_access(to, bytes, true, __builtin_return_address(0));
    return std::memmove(dav::true_address(to), dav::true_address(from), bytes);
}
extern "C" int __wrap_memcmp(const void* a, const void* b, size_t bytes) {
    dav::block_access(a, bytes, false, __builtin_return_address(0));
    dav::block_access(b, bytes, false, __builtin_return_address(0));
    return std::memcmp(a, b, bytes);
}
extern "C" void* __wrap_memset(void* to, int value, size_t bytes) {
    dav::block_access(to, bytes, true, __builtin_return_address(0));
    return std::memset(dav::true_address(to), value, bytes);
}
