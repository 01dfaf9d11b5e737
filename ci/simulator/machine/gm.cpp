#include "gm.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "gm_allocations.h"
#include "machine.h"

namespace dav {

std::vector<Allocation> allocations;

const Allocation* find_allocation(uint64_t address) {
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

namespace {

constexpr uint64_t FIRST_ADDRESS = 0x100000000000;
// Of a launch whose tensors lie elsewhere: of the bits that tensors of one launch share, each is
// the other one, and no tensor begins at a multiple of 512, as parts of larger tensors do not.
constexpr uint64_t OTHER_ADDRESS = 0x6fff0aa00000;
constexpr uint64_t OTHER_START = 64;
constexpr uint64_t LINE = 512;
constexpr uint64_t GUARD = 2 << 20;  // also the spacing: the size of a huge page
constexpr uint64_t PAGE = 4096;
constexpr uint64_t BLOCK = 32;
// The runtime's part of the workspace, in front, which starts with zeros where the two kinds of
// cores pass messages through it.
constexpr uint64_t SYSTEM_WORKSPACE = 16 << 20;

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
    static uint64_t next = gm_first_address();
    const bool shifted = launch().elsewhere && (role == GmRole::INPUT || role == GmRole::OUTPUT);
    const uint64_t offset = shifted ? OTHER_START * (2 * allocations.size() + 1) % LINE : 0;
    const uint64_t usable = (bytes + BLOCK - 1) / BLOCK * BLOCK + launch().over_read;
    const uint64_t mapped = (offset + usable + PAGE - 1) / PAGE * PAGE;
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
        if (mapped >= 2 * GUARD && !launch().addresses) madvise(memory, mapped, MADV_HUGEPAGE);
        if (fill != 0) std::memset(static_cast<uint8_t*>(memory) + offset, fill, usable);
    }
    const uint64_t start = next + offset;
    allocations.push_back({start, bytes, usable, role, name, false, 0});
    next += (mapped + GUARD + GUARD - 1) / GUARD * GUARD;
    return reinterpret_cast<uint8_t*>(start);
}

uint8_t* map_gm(const std::string& file, uint64_t bytes, GmRole role, const std::string& name) {
    uint8_t* memory = allocate_gm(bytes, role, name, 0);
    const int descriptor = open(file.c_str(), O_RDONLY);
    struct stat about{};
    if (descriptor < 0 || fstat(descriptor, &about) != 0) about.st_size = 0;
    const auto size = static_cast<uint64_t>(about.st_size);
    // A file that is shorter repeats; whole pages of it can be mapped again and again.
    if (size < bytes && (size == 0 || size % PAGE != 0))
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "The file %s has fewer than %llu bytes.",
             file.c_str(), static_cast<unsigned long long>(bytes));
    // Read-only at first: the pages of a writable mapping would all be copied at once.
    const int how = MAP_PRIVATE | MAP_FIXED | (size < bytes ? MAP_NORESERVE : MAP_POPULATE);
    for (uint64_t at = 0; at < bytes; at += size) {
        const uint64_t length = std::min(size, bytes - at);
        if (mmap(memory + at, length, PROT_READ, how, descriptor, 0) != memory + at ||
            mprotect(memory + at, length, PROT_READ | PROT_WRITE) != 0)
            fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "The file %s cannot be mapped.",
                 file.c_str());
    }
    close(descriptor);
    std::memset(memory + bytes, launch().behind, allocations.back().usable - bytes);
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

void set_element(const uint8_t* address, uint32_t bytes) {
    for (Allocation& one : allocations)
        if (one.start == reinterpret_cast<uint64_t>(address)) one.element = bytes;
}

bool in_tiling(uint64_t address) {
    const Allocation* one = find_allocation(address);
    return one != nullptr && one->role == GmRole::TILING;
}

std::vector<GmRange> gm_inputs() {
    std::vector<GmRange> found;
    for (const Allocation& one : allocations)
        if (one.role == GmRole::INPUT && one.bytes > 0) found.push_back({one.start, one.bytes});
    return found;
}

uint64_t gm_first_address() { return launch().elsewhere ? OTHER_ADDRESS : FIRST_ADDRESS; }
uint64_t gm_extent() {
    if (allocations.empty()) return 0;
    return allocations.back().start + allocations.back().usable - gm_first_address();
}

bool near_gm(uint64_t address) {
    return address - gm_first_address() + GUARD < gm_extent() + 2 * GUARD;
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
        if (first == 0 || span.start < first || span.end() > first + bytes) continue;
        if (shadows[core] == nullptr)
            shadows[core] = allocate_gm(bytes, GmRole::INPUT, "the kernel's constants", 0);
        return reinterpret_cast<uint64_t>(shadows[core]) + (span.start - first);
    }
    return span.start;
}

void* behind_l2(void* address) {
    const auto given = reinterpret_cast<uint64_t>(address);
    if ((given & PAST_L2) == 0) return address;
    current->copies.bypass_l2 = true;
    return reinterpret_cast<void*>(given & ~PAST_L2);
}

namespace {

// Warns where a copy or an element leaves what SetGlobalBuffer was given. Copies take whole blocks:
// what they read of the last one harms nothing.
void check_given(const Transfer& span, const Allocation& tensor, const char* mnemonic,
                 const void* site) {
    const auto found = current->extents.find(span.start);
    if (found == current->extents.end()) return;
    const auto [first, last] = found->second;
    current->extents.erase(found);
    const uint64_t over = span.write || span.length < BLOCK ? 0 : BLOCK - 1;
    const uint64_t end = std::min(span.end(), tensor.start + tensor.bytes);
    if (span.start >= first && end <= last + over) return;
    warn(site, "given_size", mnemonic,
         "%s %s bytes %lld to %lld of a part of %s that SetGlobalBuffer was given as %llu bytes.",
         mnemonic, span.write ? "writes" : "reads", static_cast<long long>(span.start - first),
         static_cast<long long>(span.end() - first) - 1, tensor.name.c_str(),
         static_cast<unsigned long long>(last - first));
}

// Warns of what lies behind the bytes that the host side asks for; the machine has more of them.
void check_asked(const Transfer& span, const Allocation& one, const char* mnemonic,
                 const void* site) {
    if (one.role != GmRole::WORKSPACE) return;
    const uint64_t asked = (launch().asked_workspace + BLOCK - 1) / BLOCK * BLOCK;
    if (span.end() - one.start > asked)
        warn(site, "workspace", mnemonic,
             "%s %s the workspace up to byte %llu, and the host side asks for %llu bytes of it.",
             mnemonic, span.write ? "writes" : "reads",
             static_cast<unsigned long long>(span.end() - one.start),
             static_cast<unsigned long long>(launch().asked_workspace));
}

}  // namespace

void check_system_workspace(const char* what, const void* site) {
    if (launch().checked && launch().asked_workspace < SYSTEM_WORKSPACE)
        warn(site, "workspace", what,
             "%s passes messages through the first %llu bytes of the workspace, and the host side "
             "asks for %llu bytes of it.",
             what, static_cast<unsigned long long>(SYSTEM_WORKSPACE),
             static_cast<unsigned long long>(launch().asked_workspace));
}

void check_gm(const Transfer& span, const char* mnemonic, const void* site) {
    const Allocation* one = find_allocation(span.start);
    const uint64_t end = span.end();
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
    check_given(span, *one, mnemonic, site);
    if (launch().checked) check_asked(span, *one, mnemonic, site);
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

void check_behind(const Transfer& one, const char* mnemonic, const void* site) {
    const Allocation* tensor = find_allocation(one.start);
    if (tensor == nullptr || one.write || one.end() <= tensor->start + tensor->bytes) return;
    if (tensor->role != GmRole::INPUT && tensor->role != GmRole::OUTPUT) return;
    warn(site, "padding", mnemonic,
         "%s reads an element behind %s, at byte %llu of %llu: it holds anything.", mnemonic,
         tensor->name.c_str(), static_cast<unsigned long long>(one.start - tensor->start),
         static_cast<unsigned long long>(tensor->bytes));
}

}  // namespace dav
