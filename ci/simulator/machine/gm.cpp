#include "gm.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "data_cache.h"
#include "hazard.h"
#include "machine.h"
#include "message.h"

namespace dav {
namespace {

struct Allocation {
    uint64_t start;
    uint64_t bytes;   // as asked for
    uint64_t usable;  // with the padding behind
    GmRole role;
    std::string name;
    bool has_values;  // before the launch
};
std::vector<Allocation> allocations;  // by address

constexpr uint64_t FIRST_ADDRESS = 0x100000000000;
constexpr uint64_t GUARD = 2 << 20;  // also the spacing: the size of a huge page
constexpr uint64_t PAGE = 4096;
constexpr uint64_t BLOCK = 32;
// The runtime's part of the workspace, in front, which starts with zeros where the two kinds of
// cores pass messages through it.
constexpr uint64_t SYSTEM_WORKSPACE = 16 << 20;

const Allocation* find(uint64_t address) {
    static size_t last = 0;
    const auto holds = [&](const Allocation& one) {
        return address >= one.start && address < one.start + one.usable;
    };
    if (last < allocations.size() && holds(allocations[last])) return &allocations[last];
    const auto after =
        std::upper_bound(allocations.begin(), allocations.end(), address,
                         [](uint64_t value, const Allocation& one) { return value < one.start; });
    if (after == allocations.begin()) return nullptr;
    const Allocation& one = *(after - 1);
    if (!holds(one)) return nullptr;
    last = static_cast<size_t>(&one - allocations.data());
    return &one;
}

uint64_t end_of(const Transfer& span) {
    return span.start + uint64_t(span.count - 1) * span.stride + span.length;
}

}  // namespace

namespace {

// Fills memory that few will touch: its pages are those of one small file until they are written.
void fill_lazily(uint8_t* memory, uint64_t bytes, uint8_t fill) {
    static const int pattern = [fill] {
        const int descriptor = memfd_create("pattern", MFD_CLOEXEC);
        const std::vector<uint8_t> chunk(GUARD, fill);
        if (descriptor < 0 || write(descriptor, chunk.data(), GUARD) != ssize_t(GUARD))
            fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "No memory to fill the workspace with.");
        return descriptor;
    }();
    for (uint64_t at = 0; at < bytes; at += GUARD)
        if (mmap(memory + at, std::min(GUARD, bytes - at), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, pattern, 0) != memory + at)
            fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "No memory to fill the workspace with.");
}

}  // namespace

uint8_t* allocate_gm(uint64_t bytes, GmRole role, const std::string& name, uint8_t fill) {
    static uint64_t next = FIRST_ADDRESS;
    const uint64_t usable = (bytes + BLOCK - 1) / BLOCK * BLOCK + launch().over_read;
    const uint64_t mapped = (usable + PAGE - 1) / PAGE * PAGE;
    void* memory = mmap(reinterpret_cast<void*>(next), mapped, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != reinterpret_cast<void*>(next))
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "No memory for %llu bytes of %s.",
             static_cast<unsigned long long>(bytes), name.c_str());
    // Fewer page faults for large tensors; only advice.
    if (role == GmRole::WORKSPACE) {
        const bool messages = launch().cubes_per_block > 0 && launch().vectors_per_block > 0;
        const uint64_t cleared = messages ? std::min(mapped, SYSTEM_WORKSPACE) : 0;
        fill_lazily(static_cast<uint8_t*>(memory) + cleared, mapped - cleared, fill);
    } else {
        if (mapped >= 2 * GUARD) madvise(memory, mapped, MADV_HUGEPAGE);
        if (fill != 0) std::memset(memory, fill, usable);
    }
    allocations.push_back({next, bytes, usable, role, name, false});
    next += (mapped + GUARD + GUARD - 1) / GUARD * GUARD;
    return static_cast<uint8_t*>(memory);
}

uint8_t* map_gm(const std::string& file, uint64_t bytes, GmRole role, const std::string& name) {
    uint8_t* memory = allocate_gm(bytes, role, name, 0);
    const int descriptor = open(file.c_str(), O_RDONLY);
    struct stat about{};
    if (descriptor < 0 || fstat(descriptor, &about) != 0 ||
        static_cast<uint64_t>(about.st_size) < bytes)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "The file %s has fewer than %llu bytes.",
             file.c_str(), static_cast<unsigned long long>(bytes));
    // Read-only at first: the pages of a writable mapping would all be copied at once.
    if (bytes > 0 && (mmap(memory, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_POPULATE,
                           descriptor, 0) != memory ||
                      mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0))
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "The file %s cannot be mapped.",
             file.c_str());
    close(descriptor);
    std::memset(memory + bytes, launch().poison, allocations.back().usable - bytes);
    return memory;
}

bool share_gm(const std::string& file, uint64_t bytes, const std::string& name, uint8_t*& memory) {
    memory = allocate_gm(bytes, GmRole::OUTPUT, name, 0);
    const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat about{};
    const bool there = descriptor >= 0 && fstat(descriptor, &about) == 0 &&
                       static_cast<uint64_t>(about.st_size) == bytes;
    // Room for all of it is taken now: a page that there is none for would end the program.
    const auto length = static_cast<off_t>(bytes);
    const bool ready = descriptor >= 0 &&
                       (there || (ftruncate(descriptor, length) == 0 &&
                                  posix_fallocate(descriptor, 0, length) == 0)) &&
                       mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                            descriptor, 0) == memory;
    if (!ready)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "The output %s cannot be written.",
             file.c_str());
    close(descriptor);
    const uint64_t known = there ? bytes : 0;
    std::memset(memory + known, launch().poison, allocations.back().usable - known);
    return there;
}

void mark_output(const uint8_t* address) {
    for (Allocation& one : allocations)
        if (one.start == reinterpret_cast<uint64_t>(address)) {
            one.role = GmRole::OUTPUT;
            one.has_values = true;
        }
}

bool in_tiling(uint64_t address) {
    const Allocation* one = find(address);
    return one != nullptr && one->role == GmRole::TILING;
}

std::vector<GmRange> gm_inputs() {
    std::vector<GmRange> found;
    for (const Allocation& one : allocations)
        if (one.role == GmRole::INPUT && one.bytes > 0) found.push_back({one.start, one.bytes});
    return found;
}

uint64_t gm_first_address() { return FIRST_ADDRESS; }
uint64_t gm_extent() {
    if (allocations.empty()) return 0;
    return allocations.back().start + allocations.back().usable - FIRST_ADDRESS;
}

std::string describe_gm(uint64_t address) {
    char text[200];
    const Allocation* nearest = nullptr;
    for (const Allocation& one : allocations)
        if (address + GUARD >= one.start && address < one.start + one.usable + GUARD)
            nearest = &one;
    if (nearest == nullptr) {
        std::snprintf(text, sizeof(text), "address 0x%llx, far from every tensor",
                      static_cast<unsigned long long>(address));
    } else if (address < nearest->start) {
        std::snprintf(text, sizeof(text), "%llu bytes before the start of %s",
                      static_cast<unsigned long long>(nearest->start - address),
                      nearest->name.c_str());
    } else if (address >= nearest->start + nearest->bytes) {
        std::snprintf(text, sizeof(text), "%llu bytes past the end of %s (%llu bytes)",
                      static_cast<unsigned long long>(address - nearest->start - nearest->bytes),
                      nearest->name.c_str(), static_cast<unsigned long long>(nearest->bytes));
    } else {
        std::snprintf(text, sizeof(text), "byte %llu of %s",
                      static_cast<unsigned long long>(address - nearest->start),
                      nearest->name.c_str());
    }
    return text;
}

uint64_t table_address(const Transfer& span) {
    static uint8_t* shadows[2] = {nullptr, nullptr};
    for (int core = 0; core < 2; ++core) {
        const uint64_t first = reinterpret_cast<uint64_t>(launch().image[core]);
        const uint64_t bytes = launch().image_bytes[core];
        if (first == 0 || span.start < first || end_of(span) > first + bytes) continue;
        if (shadows[core] == nullptr)
            shadows[core] = allocate_gm(bytes, GmRole::INPUT, "the kernel's constants", 0);
        return reinterpret_cast<uint64_t>(shadows[core]) + (span.start - first);
    }
    return span.start;
}

void check_gm(const Transfer& span, const char* mnemonic, const void* site) {
    const Allocation* one = find(span.start);
    const uint64_t end = end_of(span);
    const char* verb = span.write ? "writes" : "reads";
    if (one == nullptr)
        fail(Outcome::MEMORY_ERROR, site, nullptr, "%s %s global memory out of bounds: %s.",
             mnemonic, verb, describe_gm(span.start).c_str());
    const uint64_t padded = (one->bytes + BLOCK - 1) / BLOCK * BLOCK;
    const uint64_t allowed = one->start + (span.write ? padded : one->usable);
    if (end > allowed)
        fail(Outcome::MEMORY_ERROR, site, nullptr,
             "%s %s global memory out of bounds: from byte %llu of %s on it takes %u bursts of %u "
             "bytes, %llu bytes past the end of its %llu bytes.",
             mnemonic, verb, static_cast<unsigned long long>(span.start - one->start),
             one->name.c_str(), span.count, span.length,
             static_cast<unsigned long long>(end - one->start - one->bytes),
             static_cast<unsigned long long>(one->bytes));
    if (!span.write) return;
    if (end > one->start + one->bytes)
        warn(site, "padding", mnemonic, "%s writes %llu bytes into the padding behind %s.",
             mnemonic, static_cast<unsigned long long>(end - one->start - one->bytes),
             one->name.c_str());
    if (one->role == GmRole::TILING)
        fail(Outcome::MEMORY_ERROR, site, nullptr, "%s writes into the tiling data.", mnemonic);
    if (one->role == GmRole::INPUT)
        warn(site, "input", mnemonic, "%s writes into %s, which is no output.", mnemonic,
             one->name.c_str());
}

namespace {

void book_shared(const Transfer& span, bool changed, const void* site, bool atomic) {
    Core& core = *current;
    const uint32_t segment = static_cast<uint32_t>(core.gm.segments.size());
    const auto record = static_cast<uint32_t>(core.records.size() - 1);
    const int pipe = core.records[record].pipe;
    const bool scalar = pipe == S;
    CacheLine* line = scalar ? cached(span.start) : nullptr;
    const uint32_t loaded = line != nullptr ? std::min(line->loaded, segment) : segment;
    const bool dense = span.count == 1 || span.stride == span.length;
    const uint64_t low = span.start;
    const uint64_t high = end_of(span);
    // Streams come back to back: extend one of the latest ranges when this follows it.
    const size_t count = core.gm.shared.size();
    for (size_t back = 1; dense && back <= 8 && back <= count; ++back) {
        SharedAccess& other = core.gm.shared[count - back];
        if (other.segment != segment || other.span.count != 1 || other.atomic != atomic ||
            other.span.write != span.write || other.changed != changed || other.loaded != loaded ||
            core.records[other.record].pipe != pipe)
            continue;
        if (other.low <= low && other.high >= high) {  // the same again
            other.record = record;
            if (line != nullptr && span.write) soil(*line, count - back);
            return;
        }
        if (other.high != low) continue;
        // A burst's length has 32 bits.
        if (high - other.low > UINT32_MAX) continue;
        other.high = high;
        other.record = record;
        if (line != nullptr && span.write) soil(*line, count - back);
        other.span.length = static_cast<uint32_t>(high - other.low);
        other.span.stride = other.span.length;
        return;
    }
    Transfer kept = span;
    if (dense) {
        kept.length = static_cast<uint32_t>(high - low);
        kept.stride = kept.length;
        kept.count = 1;
    }
    core.gm.shared.push_back(
        {low, high, kept, segment, site_offset(site), atomic, changed, scalar, 0, loaded, record});
    if (line != nullptr && span.write) soil(*line, count);
}

}  // namespace

void note_shared(const Transfer& span, bool changed, const void* site, bool atomic) {
    if (launch().cores.size() == 1 && !span.write) return;
    book_shared(span, changed, site, atomic);
    if (span.write && changed) note_message(span, site);
}

void order_after(const std::vector<Release>& releases) {
    Core& core = *current;
    std::vector<uint32_t> known(launch().cores.size(), 0);
    if (!core.gm.segments.empty()) known = core.gm.segments.back();
    for (const Release& release : releases) {
        known[release.core] = std::max(known[release.core], release.number);
        // What the other core was ordered after when it released, this one is too.
        const std::vector<std::vector<uint32_t>>& theirs =
            launch().cores[release.core]->gm.segments;
        if (release.number < 2) continue;
        const std::vector<uint32_t>& inherited = theirs[release.number - 2];
        for (size_t i = 0; i < inherited.size(); ++i) known[i] = std::max(known[i], inherited[i]);
    }
    core.gm.segments.push_back(known);
}

uint32_t release_segment(const Clock* reached) {
    Core& core = *current;
    const auto ended = static_cast<uint32_t>(core.gm.segments.size());
    const size_t first = core.gm.unreleased;
    core.gm.unreleased = core.gm.shared.size();
    for (size_t i = first; reached != nullptr && i < core.gm.shared.size(); ++i) {
        SharedAccess& access = core.gm.shared[i];
        const int pipe = core.records[access.record].pipe;
        if (access.segment != ended || pipe == S || access.record <= reached->seen[pipe]) continue;
        access.segment = ended + 1;
        core.gm.unreleased = std::min(core.gm.unreleased, i);
    }
    std::vector<uint32_t> known(launch().cores.size(), 0);
    if (!core.gm.segments.empty()) known = core.gm.segments.back();
    core.gm.segments.push_back(known);
    return static_cast<uint32_t>(core.gm.segments.size());
}

namespace {

struct Burst {
    uint64_t low;
    uint64_t high;
    int core;
    const SharedAccess* access;
};

// Is `first` released before its core's other learns of it in `segment`?
bool before(const Burst& first, const Burst& second, uint32_t segment) {
    const Core& core = *launch().cores[second.core];
    return segment > 0 && core.gm.segments[segment - 1][first.core] > first.access->segment;
}

// Of two accesses in order: does the scalar unit's data cache stand between them?
void judge_cache(const Burst& first, const Burst& second) {
    if (!first.access->span.write) return;
    const std::string where = describe_gm(std::max(first.low, second.low));
    if (first.access->dirty > 0)
        warn(site_address(first.access->site), "cache", "unwritten",
             "Core %d writes %s with the scalar unit and core %d %s it later, but no "
             "DataCacheCleanAndInvalid writes the data cache's line back: the other core may find "
             "the old value.",
             first.core, where.c_str(), second.core,
             second.access->span.write ? "writes" : "reads");
    if (second.access->scalar && !second.access->span.write &&
        !before(first, second, second.access->loaded))
        warn(site_address(second.access->site), "cache", "outdated",
             "Core %d reads %s with the scalar unit from a line that its data cache has held since "
             "before core %d wrote there; DataCacheCleanAndInvalid before the read would fetch the "
             "new value.",
             second.core, where.c_str(), first.core);
}

void judge(const Burst& a, const Burst& b) {
    if (a.core == b.core || !(a.access->span.write || b.access->span.write)) return;
    if (a.access->atomic && b.access->atomic) return;
    if (before(a, b, b.access->segment)) return judge_cache(a, b);
    if (before(b, a, a.access->segment)) return judge_cache(b, a);
    const void* site = site_address(b.access->site);
    const std::string where = describe_gm(std::max(a.low, b.low));
    if (a.access->span.write && b.access->span.write && !(a.access->changed && b.access->changed)) {
        warn(site, "overlap", "", "Cores %d and %d both write %s, with equal values.", a.core,
             b.core, where.c_str());
        return;
    }
    fail(Outcome::RACE, site, site_address(a.access->site),
         "Core %d %s and core %d %s the same global memory, %s, and no SyncAll or cross-core flag "
         "orders the two.",
         a.core, a.access->span.write ? "writes" : "reads", b.core,
         b.access->span.write ? "writes" : "reads", where.c_str());
}

// All accesses to the allocations that somebody writes, by address; asked for when all cores have
// ended.
std::vector<Burst> collect_bursts() {
    std::vector<Burst> bursts;
    std::vector<bool> written(allocations.size(), false);
    const auto place = [](uint64_t address) {
        return static_cast<size_t>(find(address) - allocations.data());
    };
    for (const Core* core : launch().cores)
        for (const SharedAccess& access : core->gm.shared)
            if (access.span.write) written[place(access.low)] = true;
    for (const Core* core : launch().cores)
        for (const SharedAccess& access : core->gm.shared) {
            if (!written[place(access.low)]) continue;
            for (uint32_t burst = 0; burst < access.span.count; ++burst) {
                const uint64_t low = access.low + burst * access.span.stride;
                bursts.push_back({low, low + access.span.length, core->index, &access});
            }
        }
    std::sort(bursts.begin(), bursts.end(), [](const Burst& a, const Burst& b) {
        return a.low != b.low ? a.low < b.low : a.core < b.core;
    });
    return bursts;
}

const std::vector<Burst>& written_bursts() {
    static const std::vector<Burst> bursts = collect_bursts();
    return bursts;
}

// The bursts that start in an allocation.
template <typename Visit> void for_each_burst(const Allocation& one, Visit visit) {
    const std::vector<Burst>& bursts = written_bursts();
    auto burst = std::lower_bound(bursts.begin(), bursts.end(), one.start,
                                  [](const Burst& a, uint64_t low) { return a.low < low; });
    for (; burst != bursts.end() && burst->low < one.start + one.usable; ++burst) visit(*burst);
}

}  // namespace

void check_conflicts() {
    if (launch().cores.size() == 1) return;
    // Sweep: of the ranges that are still open, compare those of other cores.
    std::vector<Burst> open;
    for (const Burst& burst : written_bursts()) {
        open.erase(std::remove_if(open.begin(), open.end(),
                                  [&](const Burst& one) { return one.high <= burst.low; }),
                   open.end());
        for (const Burst& one : open) judge(one, burst);
        open.push_back(burst);
    }
}

std::vector<Unwritten> unwritten_outputs() {
    std::vector<Unwritten> found;
    for (const Allocation& one : allocations) {
        if (one.role != GmRole::OUTPUT || one.has_values) continue;
        Unwritten hole{one.name, 0, 0, one.bytes};
        uint64_t reached = 0;
        const auto leave_out = [&](uint64_t to) {
            if (to <= reached) return;
            if (hole.count == 0) hole.first = reached;
            hole.count += to - reached;
        };
        for_each_burst(one, [&](const Burst& burst) {
            if (!burst.access->span.write || burst.access->atomic) return;
            leave_out(std::min(burst.low - one.start, one.bytes));
            reached = std::max(reached, burst.high - one.start);
        });
        leave_out(one.bytes);
        if (hole.count > 0) found.push_back(hole);
    }
    return found;
}

uint64_t unused_workspace() {
    uint64_t unused = 0;
    for (const Allocation& one : allocations) {
        if (one.role != GmRole::WORKSPACE) continue;
        uint64_t used = 0;
        for_each_burst(one, [&](const Burst& burst) {
            if (burst.access->span.write) used = std::max(used, burst.high - one.start);
        });
        unused += one.bytes - std::min(used, one.bytes);
    }
    return unused;
}

}  // namespace dav
