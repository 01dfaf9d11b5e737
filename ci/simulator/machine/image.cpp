#include "image.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <vector>

#include "machine.h"

namespace dav {
namespace {

struct Segment {
    uint8_t* start;
    size_t bytes;
};
std::vector<Segment> segments;
std::vector<std::vector<uint8_t>> saved;  // by core, all segments one after the other
int loaded = -1;                          // whose globals are in the image

int collect(dl_phdr_info* info, size_t, void* wanted) {
    if (info->dlpi_addr != reinterpret_cast<link_map*>(wanted)->l_addr) return 0;
    launch().image = reinterpret_cast<const uint8_t*>(info->dlpi_addr);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = info->dlpi_phdr[i];
        if (header.p_type != PT_LOAD) continue;
        uint8_t* start = reinterpret_cast<uint8_t*>(info->dlpi_addr + header.p_vaddr);
        const uint64_t end = header.p_vaddr + header.p_memsz;
        if (end > launch().image_bytes) launch().image_bytes = end;
        if (header.p_flags & PF_W) segments.push_back({start, header.p_memsz});
    }
    // Relocated read-only data lies in a writable segment that the loader has sealed.
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = info->dlpi_phdr[i];
        if (header.p_type != PT_GNU_RELRO) continue;
        const uint64_t page = 4096;
        const uint64_t sealed_end =
            (info->dlpi_addr + header.p_vaddr + header.p_memsz) & ~(page - 1);
        for (Segment& segment : segments) {
            const uint64_t start = reinterpret_cast<uint64_t>(segment.start);
            if (start >= sealed_end || start + segment.bytes <= sealed_end) continue;
            segment.bytes -= sealed_end - start;
            segment.start = reinterpret_cast<uint8_t*>(sealed_end);
        }
    }
    return 1;
}

void copy_in(const std::vector<uint8_t>& bytes) {
    size_t position = 0;
    for (const Segment& segment : segments) {
        std::memcpy(segment.start, bytes.data() + position, segment.bytes);
        position += segment.bytes;
    }
}

std::vector<uint8_t> copy_out() {
    std::vector<uint8_t> bytes;
    for (const Segment& segment : segments)
        bytes.insert(bytes.end(), segment.start, segment.start + segment.bytes);
    return bytes;
}

}  // namespace

KernelEntry load_image(const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "The built kernel cannot be loaded: %s.",
             dlerror());
    void* entry = dlsym(handle, "ascendopt_entry");
    if (entry == nullptr)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr,
             "The built kernel has no entry point ascendopt_entry.");
    link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "The built kernel cannot be inspected.");
    dl_iterate_phdr(collect, map);
    const std::vector<uint8_t> pristine = copy_out();
    saved.assign(launch().block_dim, pristine);
    return reinterpret_cast<KernelEntry>(entry);
}

void enter_image(int index) {
    if (loaded == index) return;
    copy_in(saved[index]);
    loaded = index;
}

void leave_image(int index) {
    // A single block needs no switching, and its globals may stay where they are.
    if (launch().block_dim > 1) saved[index] = copy_out();
}

}  // namespace dav
